#!/usr/bin/env bash
# Installing the package, and running the program in the tree before anything is booted.
# Sourced by boot.sh after machine.sh.
# shellcheck disable=SC2154,SC2034,SC2016

prove_install() {
  chroot "$root" dpkg -i /test/package.deb >"$work/dpkg.log" 2>&1 || failed "dpkg -i: $(tail -n 5 "$work/dpkg.log")"
  proven "the package installs where nothing runs: $(chroot "$root" dpkg-query -W -f '${Version}' scheduled-events-bridge)"
  expect 'installing enables nothing' is_nothing_enabled
  expect 'the directory of credentials is there, for root alone' \
    equals "$(stat -c '%U %a' "$root$configuration/credentials")" 'root 700'
}

is_nothing_enabled() {
  [ -z "$(find "$root/etc/systemd/system" -path '*.wants/*' -name 'scheduled-events-bridge*')" ]
}

# In a network namespace of its own, and with no service manager: the program itself against the metadata service.
prove_without_boot() {
  local event
  event=$(new_event)
  scenario_of "$event" | put /var/lib/test/scenario.yaml
  put /tmp/agent.yaml <<'EOF'
stateDir: /tmp/state
imds: { endpoint: "http://127.0.0.1:8169" }
sinks: { console: { type: stdout } }
EOF
  unshare --net --mount --pid --fork --kill-child -- bash -euc '
    ip link set lo up
    mount -t proc proc "$0/proc"
    chroot "$0" seb emulate imds --port 8169 --scenario /var/lib/test/scenario.yaml >/dev/null 2>&1 &
    chroot "$0" timeout --signal=TERM 4 seb agent -c /tmp/agent.yaml 2>"$0/tmp/agent.log" || true
  ' "$root" >"$work/agent.out" || failed "seb agent in the tree: $(tail -n 5 "$root/tmp/agent.log")"
  expect 'in the tree, not booted, seb agent tells of an event of the emulated metadata service' \
    grep -qF "\"id\":\"${event}_scheduled_" "$work/agent.out"
  rm -rf "$root/tmp/state" "$root/tmp/agent.yaml" "$root/tmp/agent.log"
}
