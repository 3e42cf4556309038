#!/usr/bin/env bash
# Upgrade, rollback, removal and purge of the package on a machine that runs it.
# Sourced by boot.sh after machine.sh.
# shellcheck disable=SC2154,SC2034,SC2016

prove_upgrade() {
  local event pid
  event=$(new_event)
  newer_package
  inside systemctl stop test-receiver.service
  announce "$event"
  wait_until 15 waits_in_outbox "$event"
  pid=$(main_pid "$agent")
  inside dpkg -i /test/newer.deb >"$work/dpkg.log" 2>&1 || failed "upgrade: $(tail -n 5 "$work/dpkg.log")"
  eventually 15 "an upgrade to $(installed_version) restarts the running agent" has_other_pid "$agent" "$pid"
  expect 'the consumer runs as well' is_active "$consumer"
  expect 'what is stopped stays stopped' property_is test-receiver.service ActiveState inactive
  expect 'the outbox is kept' waits_in_outbox "$event"
  pid=$(main_pid "$agent")
  inside dpkg -i --force-downgrade /test/package.deb >"$work/dpkg.log" 2>&1 || failed "rollback: $(tail -n 5 "$work/dpkg.log")"
  eventually 15 "a rollback to $(installed_version) does the same" has_other_pid "$agent" "$pid"
  expect 'the outbox is kept' waits_in_outbox "$event"
  inside systemctl start test-receiver.service
  eventually 120 'and delivered, exactly once' arrived "$event"
  expect 'not twice' equals "$(arrivals "$event")" 1
}

installed_version() { inside dpkg-query -W -f '${Version}' scheduled-events-bridge; }

# The same package under a higher version.
newer_package() {
  local tree=$work/newer
  rm -rf "$tree"
  dpkg-deb --raw-extract "$root/test/package.deb" "$tree"
  sed -i 's/^Version: .*/&+newer/' "$tree/DEBIAN/control"
  dpkg-deb --root-owner-group -Zgzip -z1 --build "$tree" "$root/test/newer.deb" >/dev/null
  rm -rf "$tree"
}

prove_removal() {
  inside dpkg --remove scheduled-events-bridge >"$work/dpkg.log" 2>&1 || failed "remove: $(tail -n 5 "$work/dpkg.log")"
  expect 'removing the package stops everything of it' equals "$(running_units)" ''
  expect 'keeps the configuration and the credentials' test -s "$root$configuration/credentials/hook.url"
  expect 'keeps the outbox and the trail' both_databases_are_there
  inside dpkg --purge scheduled-events-bridge >"$work/dpkg.log" 2>&1 || failed "purge: $(tail -n 5 "$work/dpkg.log")"
  expect 'purging removes the outbox' test ! -e "$root$state/outbox.db"
  expect 'and keeps the audit trail' test -s "$root$state/trail.db"
  expect 'and what an administrator wrote' test -s "$root$configuration/agent.yaml"
  expect 'and nothing else is left of it' equals "$(leftovers)" ''
}

both_databases_are_there() { [ -s "$root$state/outbox.db" ] && [ -s "$root$state/trail.db" ]; }

running_units() { inside systemctl list-units --no-legend --plain --state=active 'scheduled-events-bridge-*.*' | grep -v '\.slice' || true; }

# The programs, units and links; the directories of the configuration and of the trail stay with what is in them.
leftovers() {
  find "$root/etc/systemd" "$root/usr" "$root/var/log" -name 'scheduled-events-bridge*' | sed "s|^$root||"
}
