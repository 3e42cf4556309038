#!/usr/bin/env bash
# What the proofs have in common: configurations, announced events, and what arrived of them.
# Sourced by boot.sh after machine.sh.
# shellcheck disable=SC2154,SC2034,SC2016

configure_agent() {
  put "$configuration/agent.yaml" <<EOF
imds: { endpoint: "http://127.0.0.1:8169" }
sinks:
  hook:
    type: webhook
    url: { credential: hook.url }
    allowHttp: true
    filter: { observer: all }
  local: { type: file, path: /var/log/scheduled-events-bridge/events.jsonl }
status: { listen: "127.0.0.1:9464" }
EOF
}

# The hub of the test, as another sink and as what the consumer reads.
configure_hub() {
  local connection='Endpoint=sb://127.0.0.1:5672;SharedAccessKeyName=RootManageSharedAccessKey'
  connection+=';SharedAccessKey=not-a-secret-emulator-key;UseDevelopmentEmulator=true'
  echo "$connection" | put "$configuration/credentials/hub.connection" 0600
  put "$configuration/consumer.yaml" <<EOF
hub: { connectionString: { credential: hub.connection }, eventHubName: scheduled-events }
EOF
}

# The sinks above, and the hub.
configure_agent_with_hub() {
  configure_agent
  sed -i '/^  local:/a\  fleet: { type: eventhubs, connectionString: { credential: hub.connection }, eventHubName: scheduled-events }' \
    "$root$configuration/agent.yaml"
}

hook_url() { echo "http://127.0.0.1:8180/$1"; }

# A new id for each event.
new_event() { tr -d '\n' </proc/sys/kernel/random/uuid; }

scenario_of() {
  cat <<EOF
summary: One reboot is announced
steps:
  - at: 0s
    schedule: reboot
    eventId: ${1^^}
    type: Reboot
    description: A machine under test is told of a reboot.
    notice: 15m
    lasts: 10m
    vms: all
EOF
}

# announce EVENT: from now on the metadata service tells of it.
announce() {
  scenario_of "$1" | put /var/lib/test/scenario.yaml
  inside systemctl restart test-imds.service
}

# arrivals EVENT [PATH]: how often its announcement reached the receiver.
arrivals() {
  grep -F "\"path\":\"/${2:-}" "$root/var/lib/test/received.jsonl" 2>/dev/null | grep -cF "\"id\":\"$1_scheduled_" || true
}
arrived() { (($(arrivals "$@") > 0)); }

# written_down EVENT: the file sink has it, so it was committed to the outbox.
written_down() { grep -qF "\"id\":\"$1_scheduled_" "$root"/var/log/scheduled-events-bridge/events.jsonl 2>/dev/null; }

# waits_in_outbox EVENT: its delivery to the webhook is in the outbox and not done.
waits_in_outbox() { contains "$(inside seb outbox list --sink hook -o jsonl 2>/dev/null)" "$1_scheduled_"; }

main_pid() { property "$1" MainPID; }
has_other_pid() {
  local now
  now=$(main_pid "$1")
  [ "$now" != 0 ] && [ "$now" != "$2" ] && is_active "$1"
}

# drop_in UNIT NAME: standard input becomes a drop-in of the unit.
drop_in() {
  put "/etc/systemd/system/$1.d/$2.conf"
  inside systemctl daemon-reload
}
remove_drop_in() {
  rm -f "$root/etc/systemd/system/$1.d/$2.conf"
  rmdir --ignore-fail-on-non-empty "$root/etc/systemd/system/$1.d"
  inside systemctl daemon-reload
}

# shipped DROP-IN: the file as the package brings it.
shipped() { cat "$here/../systemd/drop-ins/$1.conf"; }
