#!/usr/bin/env bash
# What happens to a running service: reload, new credentials, death, a hang, a stop.
# Sourced by boot.sh after machine.sh.
# shellcheck disable=SC2154,SC2034,SC2016

prove_reload() {
  local pid since
  pid=$(main_pid "$agent")
  since=$(cursor)
  configure_agent_with_hub
  echo 'heartbeatInterval: 30m' >>"$root$configuration/agent.yaml"
  inside systemctl reload "$agent" || failed 'systemctl reload'
  eventually 10 'systemctl reload: a changed configuration is taken up' \
    journal_says_since "$since" "$agent" 'configuration file has changed'
  eventually 10 'by the same process, which is ready again' is_same_and_active "$pid"
}

is_same_and_active() { is_active "$agent" && equals "$(main_pid "$agent")" "$1"; }

prove_rotation() {
  local pid event
  pid=$(main_pid "$agent")
  event=$(new_event)
  hook_url second | put "$configuration/credentials/.new" 0600
  mv "$root$configuration/credentials/.new" "$root$configuration/credentials/hook.url"
  eventually 20 'a credential that is renamed into place restarts the agent' has_other_pid "$agent" "$pid"
  announce "$event"
  eventually 15 'and counts from then on' arrived "$event" second

  pid=$(main_pid "$agent")
  event=$(new_event)
  hook_url third >"$root$configuration/credentials/hook.url"
  eventually 20 'a credential that is written in place restarts it too' has_other_pid "$agent" "$pid"
  announce "$event"
  eventually 15 'and counts from then on' arrived "$event" third
  prove_rotation_in_pieces
}

# More changes than any start limit would bear, the last of them while the restart goes on.
prove_rotation_in_pieces() {
  local pid event count
  pid=$(main_pid "$agent")
  event=$(new_event)
  for count in {1..24}; do
    hook_url "piece-$count" >"$root$configuration/credentials/hook.url"
    sleep 0.25
  done
  hook_url last >"$root$configuration/credentials/hook.url"
  wait_until 20 has_other_pid "$agent" "$pid"
  # Several restarts follow one another. What is announced between two of them goes where the one before said.
  wait_until 30 is_settled
  announce "$event"
  eventually 20 'after 25 changes in 6 s the last one counts' arrived "$event" last
  expect 'and changes are still noticed' is_active scheduled-events-bridge-credentials.path
  expect 'the consumer was restarted as well, and runs' is_active "$consumer"
}

is_settled() {
  restarts_nothing || return 1
  sleep 1
  restarts_nothing && is_active "$agent"
}

restarts_nothing() { property_is scheduled-events-bridge-credentials.service ActiveState inactive; }

prove_death() {
  local pid
  pid=$(main_pid "$agent")
  inside kill -KILL "$pid"
  eventually 15 'after kill -9 the agent is started again' has_other_pid "$agent" "$pid"
}

# The event waits for a receiver that is down, while the process is stopped and killed by the watchdog.
prove_watchdog() {
  local event pid since
  event=$(new_event)
  inside systemctl stop test-receiver.service
  announce "$event"
  wait_until 15 waits_in_outbox "$event"
  pid=$(main_pid "$agent")
  since=$(cursor)
  inside kill -STOP "$pid"
  eventually 90 'a process that hangs (SIGSTOP): systemd tells of a watchdog timeout' \
    journal_says_since "$since" "$agent" 'Watchdog timeout'
  eventually 15 'and starts the agent again' has_other_pid "$agent" "$pid"
  expect 'with the outbox as it was' waits_in_outbox "$event"
  inside systemctl start test-receiver.service
  eventually 120 'which is delivered when the receiver is up' arrived "$event"
  expect 'exactly once' equals "$(arrivals "$event")" 1
}

prove_stop() {
  local began limit=20
  expect "the unit allows a stop ${limit} s" property_is "$agent" TimeoutStopUSec "${limit}s"
  began=$(milliseconds)
  inside systemctl stop "$agent"
  proven "a stop with nothing in hand takes $(seconds_since "$began") s"
  expect 'and is no failure' property_is "$agent" Result success
  inside systemctl start "$agent"

  touch "$root/var/lib/test/receiver-hangs"
  announce "$(new_event)"
  sleep 3 # the attempt is in hand by then
  began=$(milliseconds)
  inside systemctl stop "$agent"
  (($(milliseconds) - began < limit * 1000)) || failed 'a stop within the limit of the unit'
  proven "a stop while a receiver hangs takes $(seconds_since "$began") s, within the unit's $limit s"
  expect 'and nobody had to kill it' property_is "$agent" Result success
  rm "$root/var/lib/test/receiver-hangs"
  inside systemctl start "$agent"
}
