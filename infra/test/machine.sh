#!/usr/bin/env bash
# The machine under test: how it is made, booted, spoken to and ended, and how a proof is told.
# Sourced by boot.sh, which sets: here, work, cache, deb, node, suite, root, proofs.
# shellcheck disable=SC2154,SC2034,SC2016

agent=scheduled-events-bridge-agent.service
consumer=scheduled-events-bridge-consumer.service
configuration=/etc/scheduled-events-bridge
# Of a dynamic user; /var/lib/scheduled-events-bridge leads there.
state=/var/lib/private/scheduled-events-bridge
nspawn=''

section() { printf '\n== %s\n' "$1"; }

proven() {
  proofs=$((proofs + 1))
  printf 'ok  %-9s %s\n' "$suite" "$1"
}

# What was not as promised, and all that helps to see why.
failed() {
  printf 'FAILED  %s: %s\n' "$suite" "$1" >&2
  if [ -n "$nspawn" ]; then
    inside systemctl status --no-pager --lines=0 'scheduled-events-bridge-*' >&2 || true
    inside journalctl --no-pager --lines=60 --output=short-monotonic >&2 || true
  fi
  tail -n 20 "$work/console.log" >&2 || true
  exit 1
}

# expect SENTENCE COMMAND...: holds now.
expect() {
  local sentence=$1
  shift
  "$@" || failed "$sentence"
  proven "$sentence"
}

# eventually SECONDS SENTENCE COMMAND...: holds within that time; says how long it took.
eventually() {
  local seconds=$1 sentence=$2 began
  shift 2
  began=$(milliseconds)
  until "$@"; do
    (($(milliseconds) - began < seconds * 1000)) || failed "$sentence (not within $seconds s)"
    sleep 0.2
  done
  proven "$sentence ($(seconds_since "$began") s)"
}

# The same as a condition for what follows, and no proof.
wait_until() {
  local seconds=$1 began
  shift
  began=$(milliseconds)
  until "$@"; do
    (($(milliseconds) - began < seconds * 1000)) || failed "waited $seconds s in vain for: $*"
    sleep 0.2
  done
}

milliseconds() { date +%s%3N; }
seconds_since() { awk -v ms=$(($(milliseconds) - $1)) 'BEGIN { printf "%.1f", ms / 1000 }'; }
equals() { [ "$1" = "$2" ]; }
contains() { grep -qF -- "$2" <<<"$1"; }

# A fresh system of the suite, from the cache or from the mirror.
make_root() {
  local fresh=$cache/rootfs-$suite
  if [ ! -e "$fresh/usr/bin/apt" ]; then
    rm -rf "$fresh"
    nice debootstrap --variant=minbase \
      --include=systemd,systemd-sysv,dbus,libnss-systemd,ca-certificates,iproute2,procps \
      "$suite" "$fresh" http://deb.debian.org/debian >"$work/debootstrap.log" 2>&1 ||
      failed "debootstrap: $(tail -n 3 "$work/debootstrap.log")"
  fi
  cp -a --reflink=auto "$fresh" "$root"
  mkdir -p "$root/test" "$root/var/lib/test" "$root/var/log/journal"
  echo machine-under-test >"$root/etc/hostname"
  cp "$here"/inside/*.mjs "$root/test/"
  cp "$here"/inside/*.service "$root/etc/systemd/system/"
  install -m 0755 "$node" "$root/test/node"
  install -m 0644 "$deb" "$root/test/package.deb"
  # As where an initramfs is made: some distributions keep a shell there.
  install -D -m 0755 "$root/bin/sh" "$root/usr/lib/busybox/sh"
}

# put PATH [MODE]: standard input becomes a file of the machine.
put() {
  mkdir -p "$(dirname "$root$1")"
  cat >"$root$1"
  chmod "${2:-0644}" "$root$1"
}

boot_machine() {
  # --register=no, --keep-unit: there is no systemd out here. bpf: for the address filters of the units.
  UNIFIED_CGROUP_HIERARCHY=1 systemd-nspawn --quiet --directory="$root" --boot --register=no --keep-unit \
    --console=pipe --capability=all --system-call-filter=bpf --private-network --machine="seb-$suite" \
    </dev/null >"$work/console.log" 2>&1 &
  nspawn=$!
  wait_until 60 is_up
}

is_up() {
  kill -0 "$nspawn" 2>/dev/null || failed "the machine ended: $(tail -n 5 "$work/console.log")"
  local state
  state=$(inside systemctl is-system-running 2>/dev/null) || true
  [ "$state" = running ] || [ "$state" = degraded ]
}

leader() { pgrep --parent "$nspawn" | head -n 1; }

# inside COMMAND...: runs it in the machine, as root.
inside() {
  local pid
  pid=$(leader)
  [ -n "$pid" ] || return 1
  nsenter --target "$pid" --mount --uts --ipc --net --pid --root --wd -- \
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root "$@"
}

# With --keep-unit systemd-nspawn ends when the machine asks for a reboot, and leaves it to us to start it again.
reboot_machine() {
  inside systemctl reboot
  wait_until 90 is_down
  boot_machine
}

is_down() { ! kill -0 "$nspawn" 2>/dev/null; }

stop_machine() {
  [ -n "$nspawn" ] || return 0
  inside systemctl poweroff >/dev/null 2>&1 || true
  local began
  began=$(milliseconds)
  until is_down; do
    (($(milliseconds) - began < 60000)) || kill -KILL "$nspawn" "$(leader)" 2>/dev/null || true
    sleep 0.2
  done
  nspawn=''
}

systemd_version() { inside systemctl --version | awk 'NR == 1 { print $2 }'; }
property() { inside systemctl show --property="$2" --value "$1"; }
property_is() { equals "$(property "$1" "$2")" "$3"; }
is_active() { property_is "$1" ActiveState active; }
journal_says() { inside journalctl --no-pager --boot --unit="$1" --output=cat | grep -qF -- "$2"; }

# journal_says_since CURSOR UNIT TEXT
cursor() { inside journalctl --no-pager --lines=0 --show-cursor | sed -n 's/^-- cursor: //p'; }
journal_says_since() {
  inside journalctl --no-pager --after-cursor="$1" --output=cat "--unit=$2" | grep -qF -- "$3"
}
