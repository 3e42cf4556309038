#!/usr/bin/env bash
# A wrong configuration, a first start, what the sandbox allows, and both services side by side.
# Sourced by boot.sh after machine.sh.
# shellcheck disable=SC2154,SC2034,SC2016

# As root, as people do before they trust a service: it leaves files of root where the service will keep its own.
prove_by_hand() {
  local event
  event=$(new_event)
  hook_url by-hand | put "$configuration/credentials/hook.url" 0600
  configure_agent
  inside systemctl start test-receiver.service
  announce "$event"
  inside timeout --signal=TERM 4 seb agent -c "$configuration/agent.yaml" >/dev/null 2>&1 || true
  expect 'seb agent runs by hand as well, with the credentials of the service' arrived "$event" by-hand
  expect 'and leaves an outbox of root' equals "$(stat -c %U "$root/var/lib/scheduled-events-bridge/outbox.db")" root
  rm "$root$configuration/agent.yaml"
}

prove_configuration_faults() {
  local version
  version=$(systemd_version)
  if ((version < 251)); then
    expect "systemd $version cannot load a directory of credentials: the package brought the drop-in for that" \
      contains "$(property "$agent" DropInPaths)" older-systemd.conf
  else
    expect "systemd $version needs no drop-in for credentials" equals \
      "$(property "$agent" DropInPaths | grep -c older-systemd || true)" 0
  fi
  inside systemctl start "$agent" 2>/dev/null || true
  eventually 10 'without agent.yaml the service ends with exit code 2' property_is "$agent" ExecMainStatus 2
  configure_agent
  echo 'sinkz: {}' >>"$root$configuration/agent.yaml"
  inside systemctl start "$agent" 2>/dev/null || true
  wait_until 10 property_is "$agent" ActiveState failed
  expect 'with a mistyped setting too, and the journal names it' journal_says "$agent" sinkz
  sleep 7 # RestartSec is 5
  expect 'and it is not started again and again' equals "$(property "$agent" NRestarts) $(property "$agent" ActiveState)" '0 failed'
}

prove_start() {
  local event began
  event=$(new_event)
  hook_url first | put "$configuration/credentials/hook.url" 0600
  configure_agent
  announce "$event"
  began=$(milliseconds)
  inside systemctl enable --quiet --now "$agent" || failed 'the agent starts'
  proven "enable --now returns when the agent is ready ($(seconds_since "$began") s)"
  expect 'systemctl is-active says active' is_active "$agent"
  expect 'the outbox that root left has become its own' has_moved
  expect "and that is so only since READY=1: Type=notify" property_is "$agent" Type notify
  eventually 10 'an announced event reaches the webhook' arrived "$event" first
  eventually 10 'and the file of a file sink in /var/log/scheduled-events-bridge' written_down "$event"
  eventually 30 'systemctl status tells how it stands' has_status_text
  proven "as in: \"$(property "$agent" StatusText)\""
  expect 'the status page answers on 127.0.0.1:9464' status_page_answers
  expect 'the watchdog watches' property_is "$agent" WatchdogUSec 1min
  expect 'the credentials are watched along with it' is_active scheduled-events-bridge-credentials.path
}

has_moved() { [ -L "$root/var/lib/scheduled-events-bridge" ] && [ "$(stat -c %u "$root$state/outbox.db")" -gt 60000 ]; }

# What it says before the first poll is not what is meant.
has_status_text() {
  local text
  text=$(property "$agent" StatusText)
  [ -n "$text" ] && ! contains "$text" 'no answer yet'
}
status_page_answers() {
  inside /test/node -e 'fetch("http://127.0.0.1:9464/readyz").then(({ status }) => process.exit(status === 200 ? 0 : 1))'
}

# The probe takes the place of the program in the real unit; all else of the unit stays.
prove_sandbox() {
  inside systemctl stop "$agent"
  drop_in "$agent" probe <<'EOF'
[Service]
Type=oneshot
Restart=no
WatchdogSec=0
ExecPaths=/test
ExecStart=
ExecStart=/test/node /test/probe.mjs
Environment=NODE_OPTIONS=--no-such-option
StandardOutput=file:/run/probe.json
EOF
  inside systemctl start "$agent" || failed 'the probe runs within the unit'
  probe=$(inside cat /run/probe.json)
  remove_drop_in "$agent" probe
  inside rm -f /run/probe.json /var/lib/scheduled-events-bridge/probe /var/log/scheduled-events-bridge/probe
  told 'writing to /usr: EROFS' writeUsr EROFS
  told 'writing its own configuration: EACCES' writeEtc EACCES
  told 'writing its state' writeState 'done'
  told 'writing its logs' writeLogs 'done'
  told 'reading /etc/shadow: EACCES' readShadow EACCES
  told 'reading /root: EACCES' readRoot EACCES
  told 'reading the original of a credential: EACCES' readOriginalCredential EACCES
  told 'reading the credential that it was handed' readCredential "$(hook_url first)"
  told 'which nobody can write, and others cannot read' credentialForOthers 0
  told 'no capability' capabilities 0000000000000000
  told 'no new privileges' noNewPrivileges 1
  told 'system calls are filtered' seccomp 2
  told 'no netlink' netlink ERR_SYSTEM_ERROR
  told 'NODE_OPTIONS does not reach it' nodeOptions null
  # Not compared: some systemd mount /proc anew, which uncovers the id of the machine out here.
  expect 'sandbox: reading the boot id, which tells a reboot from a restart' is_uuid "$(probed bootId)"
  told 'listening on its own port 9464' listenStatus 'done'
  prove_sandbox_of_this_systemd
  inside systemctl start "$agent"
  prove_credential_is_private
}

# What an older systemd, or one that was built without BPF, does not know.
prove_sandbox_of_this_systemd() {
  local version
  version=$(systemd_version)
  if ((version >= 248)); then
    told 'running a shell: EACCES' runShell EACCES
    told 'running a shell that lies below /usr/lib: EACCES' runShellOfLibrary EACCES
    told 'running systemd-notify' runNotify 'done'
  else
    told "(systemd $version knows no NoExecPaths=: a shell can be run)" runShell 'done'
  fi
  if contains "$(inside systemctl --version)" +BPF_FRAMEWORK; then
    told 'listening on any other port: EPERM' listenOther EPERM
  else
    told "(systemd $version has no BPF framework: another port can be listened on)" listenOther 'done'
  fi
}

# told SENTENCE KEY VALUE: what the probe found.
told() {
  local found
  found=$(probed "$2")
  [ "$found" = "$3" ] || failed "sandbox: $1 (found: $found)"
  proven "sandbox: $1"
}

probed() { "$node" -p 'String(JSON.parse(process.argv[1])[process.argv[2]])' "$probe" "$1"; }
is_uuid() { grep -qxE '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}' <<<"$1"; }

prove_credential_is_private() {
  local pid
  pid=$(main_pid "$agent")
  expect 'another user of the machine can read no credential of the service' \
    cannot_read 65534 "$(inside find /run -path '*scheduled-events-bridge-agent*' -name '*hook.url' 2>/dev/null | head -n 1)"
  expect 'the service runs as a user of its own, with no entry in /etc/passwd' is_dynamic "$pid"
}

cannot_read() {
  [ -n "$2" ] && inside test -s "$2" && ! inside setpriv --reuid="$1" --regid="$1" --clear-groups cat "$2" >/dev/null 2>&1
}

is_dynamic() {
  local uid
  uid=$(inside stat -c %u "/proc/$1")
  ((uid >= 61184 && uid <= 65519)) && ! grep -q scheduled-events-bridge "$root/etc/passwd"
}

prove_both_services() {
  local event began
  event=$(new_event)
  configure_hub
  configure_agent_with_hub
  inside systemctl start test-hub.service
  began=$(milliseconds)
  inside systemctl enable --quiet --now "$consumer" || failed 'the consumer starts'
  proven "the consumer becomes ready as a service ($(seconds_since "$began") s)"
  inside systemctl restart "$agent"
  announce "$event"
  eventually 30 'what the agent sends to the hub is in the trail of the consumer' in_trail "$event"
  expect 'both run as the same user' equals \
    "$(inside stat -c %u "/proc/$(main_pid "$agent")")" "$(inside stat -c %u "/proc/$(main_pid "$consumer")")"
  inside systemctl restart "$consumer"
  expect 'a restart of one leaves the other alone' is_active "$agent"
  expect 'and the trail is still there' in_trail "$event"
}

in_trail() { contains "$(inside seb events -o jsonl 2>/dev/null)" "${1^^}" || contains "$(inside seb events -o jsonl 2>/dev/null)" "$1"; }
