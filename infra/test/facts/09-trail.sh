#!/usr/bin/env bash
# The consumer's key as a credential, and the timers that verify and prune its trail.
# Sourced by boot.sh after machine.sh.
# shellcheck disable=SC2154,SC2034,SC2016

verify=scheduled-events-bridge-verify
prune=scheduled-events-bridge-prune

prove_trail_care() {
  expect 'the timers are off until somebody enables them' equals \
    "$(inside systemctl is-enabled "$verify.timer" "$prune.timer" 2>/dev/null | xargs || true)" 'disabled disabled'
  inside seb audit keygen --name audit.example.com/fleet --out "$configuration/credentials/signing.key" >/dev/null
  cat >>"$root$configuration/consumer.yaml" <<EOF
signing: { keyFile: { credential: signing.key } }
anchors: [{ type: file, path: /var/lib/scheduled-events-bridge/heads.notes }]
EOF
  # What was sealed before there was a key stays unsigned, so this is a trail from the beginning of what the hub holds.
  inside systemctl stop "$consumer"
  rm -f "$root"/var/lib/scheduled-events-bridge/trail.db*
  inside systemctl start "$consumer" || failed 'the consumer starts with a key'
  eventually 30 'the service signs with a key that only root can read' is_signed
  # A stop is sealed and anchored at once.
  inside systemctl restart "$consumer"
  inside systemctl start "$verify.service" 2>/dev/null || true
  expect 'its trail is verified in the sandbox of its own unit' property_is "$verify.service" ExecMainStatus 0
  expect 'and the journal has the sentence' journal_says "$verify.service" VERIFIED
  expect 'while the consumer runs on' is_active "$consumer"

  mv "$root/var/lib/scheduled-events-bridge/heads.notes" "$root/var/lib/scheduled-events-bridge/heads.away"
  inside systemctl start "$verify.service" 2>/dev/null || true
  expect 'what cannot be proven fails the unit, by the exit code of the command' property_is "$verify.service" ExecMainStatus 11
  expect 'so that systemctl --failed shows it' property_is "$verify.service" ActiveState failed
  mv "$root/var/lib/scheduled-events-bridge/heads.away" "$root/var/lib/scheduled-events-bridge/heads.notes"

  inside systemctl start "$prune.service" 2>/dev/null || true
  expect 'old bodies are pruned in the sandbox of its own unit' property_is "$prune.service" ExecMainStatus 0
  inside systemctl enable --quiet --now "$verify.timer" "$prune.timer" || failed 'the timers are enabled'
  expect 'an enabled timer waits for its time' is_active "$verify.timer"
  inside systemctl disable --quiet --now "$verify.timer" "$prune.timer"
}

is_signed() { contains "$(inside seb audit status 2>/dev/null)" 'signed by audit.example.com/fleet'; }
