#!/usr/bin/env bash
# What survives a reboot, and who is stopped after whom.
# Sourced by boot.sh after machine.sh.
# shellcheck disable=SC2154,SC2034,SC2016

prove_outbox_over_reboot() {
  local event
  event=$(new_event)
  # Started by hand below: so the receiver is down before and after the reboot.
  inside systemctl stop test-receiver.service
  announce "$event"
  wait_until 15 waits_in_outbox "$event"
  reboot_machine
  expect 'after a reboot the agent is ready by itself, though the metadata service is still silent' is_active "$agent"
  expect 'the consumer too' is_active "$consumer"
  expect 'and the event still waits in the outbox' waits_in_outbox "$event"
  inside systemctl start test-imds.service test-hub.service test-receiver.service
  eventually 120 'when the receiver is up again, it is delivered' arrived "$event"
  sleep 3 # long enough for a second one to come
  expect 'exactly once, with the id it had' equals "$(arrivals "$event")" 1
}

# The workload of the test announces an event while it stops; systemd stops what has no order at the same moment.
prove_shutdown_order() {
  local unseen seen
  announcer | put /test/announce-while-stopping 0755
  # Without the hub: an agent that has an attempt in hand goes on watching until that is over.
  configure_agent
  inside systemctl restart "$agent"
  inside systemctl enable --quiet --now app.service
  unseen=$(new_event)
  shut_down_announcing "$unseen"
  expect 'shutdown without order: the agent is gone before the workload, and misses what is announced meanwhile' \
    equals "$(committed "$unseen")" 0

  shipped before-workload | drop_in "$agent" before-workload
  seen=$(new_event)
  shut_down_announcing "$seen"
  expect 'shutdown with before-workload.conf: the event that is announced while the workload stops is written down' \
    equals "$(committed "$seen")" 1
  proven "the agent was told to stop $(order_of_stops) ms after the workload had ended"
  eventually 120 'and is delivered after the boot' arrived "$seen"
  expect 'exactly once' equals "$(arrivals "$seen")" 1
  remove_drop_in "$agent" before-workload
  inside systemctl disable --quiet --now app.service
}

# shut_down_announcing EVENT: only once the agent polls well, so that a miss is for the shutdown and nothing else.
shut_down_announcing() {
  local baseline
  baseline=$(new_event)
  announce "$baseline"
  wait_until 60 arrived "$baseline"
  scenario_of "$1" | put /var/lib/test/shutdown.yaml
  reboot_machine
  inside systemctl start test-receiver.service test-hub.service
}

# The event is in the file of the file sink, or waits for another.
committed() { if written_down "$1" || waits_in_outbox "$1"; then echo 1; else echo 0; fi; }

# Takes the place of the metadata service, for 6 s: longer than the pause of the agent after a poll that failed.
announcer() {
  cat <<'EOF'
#!/bin/sh
systemctl kill --signal=KILL test-imds.service || true
timeout 6 seb emulate imds --port 8169 --vm vm-under-test --scenario /var/lib/test/shutdown.yaml || true
EOF
}

# Between the end of the workload and the moment the agent says that it stops, in the boot before this one.
order_of_stops() {
  inside journalctl --no-pager --boot=-1 --output=short-unix --identifier=systemd |
    awk '/Stopped app.service/ { workload = $1 } /Stopping .*Scheduled Events Bridge agent/ { agent = $1 }
      END { if (!workload || !agent || agent < workload) exit 1; printf "%.1f", (agent - workload) * 1000 }' ||
    failed 'the agent is told to stop after the workload has ended'
}
