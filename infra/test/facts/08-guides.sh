#!/usr/bin/env bash
# The guides, followed to the letter: their blocks that need a booted machine are run as they stand.
# Sourced by boot.sh after machine.sh. The pages: docs/install.md, docs/guides/one-vm-to-slack.md,
# docs/guides/fleet-to-event-hubs.md, docs/guides/proxy-and-private-endpoints.md.
# shellcheck disable=SC2154,SC2034

pages=$here/../../docs

# blocks_of PAGE: its blocks marked for this script, each followed by a NUL.
blocks_of() {
  awk '
    /^<!-- runs in infra\/test\/boot.sh -->$/ { marked = 1; next }
    marked && /^```sh$/ { inside = 1; marked = 0; next }
    inside && /^```$/ { inside = 0; printf "%c", 0; next }
    inside { print }
  ' "$pages/$1"
}

# follow PAGE NUMBER: runs that block where the reader is, beside the package.
follow() {
  local -a blocks
  mapfile -d '' blocks < <(blocks_of "$1")
  local block=${blocks[$2]-}
  [ -n "$block" ] || failed "docs/$1 has no block $2 for this script"
  inside env PATH=/test/bin:/usr/sbin:/usr/bin:/sbin:/bin bash -euc "cd /test/reader; $block" >"$work/guide.out" 2>&1 ||
    failed "docs/$1, block $2: $(cat "$work/guide.out")"
  proven "docs/$1: $(head -n 1 <<<"$block")"
}

blocks_are() {
  equals "$(blocks_of "$1" | tr -dc '\0' | wc -c)" "$2" || failed "docs/$1 has other blocks than the script runs"
}

# The machine as a reader has it: the package beside them, and sudo, which asks root for nothing.
become_reader() {
  mkdir -p "$root/test/reader"
  cp "$deb" "$root/test/reader/scheduled-events-bridge_1.0.0_amd64.deb"
  # shellcheck disable=SC2016
  printf '#!/bin/sh\nexec "$@"\n' | put /test/bin/sudo 0755
}

prove_guides() {
  blocks_are guides/one-vm-to-slack.md 2
  blocks_are guides/proxy-and-private-endpoints.md 1
  blocks_are guides/fleet-to-event-hubs.md 1
  blocks_are install.md 4
  become_reader
  follow guides/one-vm-to-slack.md 0
  # What the reader types in between, with the metadata service and the receiver of this machine.
  configure_agent
  hook_url ok | put "$configuration/credentials/hook.url" 0600
  configure_hub
  follow guides/one-vm-to-slack.md 1
  expect 'after the guide to Slack the agent runs, and will after a reboot' agent_is_installed
  follow guides/proxy-and-private-endpoints.md 0
  expect 'after the guide to private endpoints all other addresses are denied' denies_the_rest
  inside systemctl start test-hub.service
  follow guides/fleet-to-event-hubs.md 0
  expect 'after the guide to Event Hubs the consumer runs' is_active "$consumer"
  follow install.md 0
  follow install.md 1
  follow install.md 2
  # For a moment it says that it reloads.
  eventually 10 'after docs/install.md the agent still runs' is_active "$agent"
  follow install.md 3
  expect 'removed, it runs no more, and the configuration is still there' is_removed
}

agent_is_installed() { is_active "$agent" && equals "$(inside systemctl is-enabled "$agent")" enabled; }
denies_the_rest() { contains "$(property "$agent" IPAddressDeny)" '0.0.0.0/0' && is_active "$agent"; }
is_removed() { ! is_active "$agent" && [ -f "$root$configuration/agent.yaml" ] && [ ! -e "$root/usr/bin/seb" ]; }
