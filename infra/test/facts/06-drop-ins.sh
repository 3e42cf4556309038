#!/usr/bin/env bash
# The drop-ins that can be tried on this systemd, on the real service.
# Sourced by boot.sh after machine.sh.
# shellcheck disable=SC2154,SC2034,SC2016

prove_drop_ins() {
  local version
  version=$(systemd_version)
  ((version < 253)) || prove_notify_descriptor
  ((version < 251)) || prove_older_systemd_drop_in
  ((version < 251)) || prove_encrypted_credentials
  prove_egress
}

# works_with NAME SENTENCE: the agent becomes ready and delivers.
works() {
  local event
  event=$(new_event)
  inside systemctl restart "$agent" || failed "$1"
  announce "$event"
  eventually 30 "$1" arrived "$event"
}

prove_notify_descriptor() {
  local since
  shipped notify-descriptor | drop_in "$agent" notify-descriptor
  since=$(cursor)
  works 'notify-descriptor.conf: the agent becomes ready through the passed descriptor'
  expect 'and no child speaks for it: NotifyAccess=main' property_is "$agent" NotifyAccess main
  expect 'no notice was refused' is_silent_since "$since" 'reception only permitted'
  remove_drop_in "$agent" notify-descriptor
}

is_silent_since() { ! journal_says_since "$1" "$agent" "$2"; }

# On a newer systemd too, so that an upgrade of the distribution does no harm.
prove_older_systemd_drop_in() {
  shipped older-systemd | drop_in "$agent" older-systemd
  works 'older-systemd.conf works on this systemd as well'
  remove_drop_in "$agent" older-systemd
}

prove_encrypted_credentials() {
  local encrypted=$configuration/credentials.encrypted
  inside install -d -m 0700 "$encrypted"
  inside systemd-creds setup >/dev/null 2>&1 || true
  local name
  for name in hook.url hub.connection; do
    inside systemd-creds encrypt --with-key=host "--name=seb_$name" "$configuration/credentials/$name" \
      "$encrypted/$name" >/dev/null 2>&1 || failed "systemd-creds encrypt $name"
  done
  expect 'an encrypted credential shows nothing of itself' \
    equals "$(grep -cF 127.0.0.1 "$root$encrypted/hook.url" || true)" 0
  shipped encrypted-credentials | drop_in "$agent" encrypted-credentials
  works 'encrypted-credentials.conf: the agent gets them in clear'
  remove_drop_in "$agent" encrypted-credentials
  inside rm -r "$encrypted"
}

# There is nothing but loopback in the machine: so a part of loopback is denied.
prove_egress() {
  local event
  shipped egress-private-endpoint | drop_in "$agent" egress-private-endpoint
  works 'egress-private-endpoint.conf: what is on the list is reached'
  remove_drop_in "$agent" egress-private-endpoint
  drop_in "$agent" egress <<'EOF'
[Service]
IPAddressDeny=127.0.0.1/32
EOF
  event=$(new_event)
  announce "$event"
  inside systemctl restart "$agent"
  sleep 5 # polls come every second
  expect 'what a unit denies is not reached: no poll gets through' equals "$(committed "$event")" 0
  remove_drop_in "$agent" egress
  inside systemctl restart "$agent"
  eventually 30 'and is reached when it is allowed again' arrived "$event"
}
