#!/usr/bin/env bash
# Boots real Debian machines (systemd-nspawn), installs the package in them, and proves what the services promise.
#
#   infra/test/boot.sh --deb FILE [--cache DIR] [--node FILE] [--keep] [SUITE...]
#
# SUITE: bookworm (systemd 252), trixie (257), bullseye (247); all three when none is named.
# --deb    the package, as `npm run package -- deb` builds it
# --cache  where fresh systems are kept between runs (debootstrap takes about a minute each); a private one otherwise
# --node   a Node for the receiver and the probe inside of the machine; the one of this checkout otherwise
# --keep   leaves the machine's tree for a look when a proof fails
# Needs root, debootstrap and systemd-container. The machines have no network but their own loopback.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
deb='' cache='' keep='' node="$here/../../node_modules/node/bin/node"
suites=()
while (($#)); do
  case $1 in
    --deb) deb=$2 && shift 2 ;;
    --cache) cache=$2 && shift 2 ;;
    --node) node=$2 && shift 2 ;;
    --keep) keep=yes && shift ;;
    bookworm | trixie | bullseye) suites+=("$1") && shift ;;
    *) echo "boot.sh: $1 is no option and no suite (bookworm, trixie, bullseye)" >&2 && exit 2 ;;
  esac
done
((${#suites[@]})) || suites=(bookworm trixie bullseye)

refuse() {
  echo "boot.sh: $1" >&2
  exit 2
}

[ -n "$deb" ] || refuse 'name the package with --deb FILE; "npm run package -- deb" builds it'
[ -f "$deb" ] || refuse "$deb is not there"
[ -x "$node" ] || refuse "$node is not there; name a Node with --node FILE"
for tool in debootstrap systemd-nspawn nsenter unshare dpkg-deb; do
  command -v "$tool" >/dev/null || refuse "$tool is missing; on Debian: apt-get install debootstrap systemd-container"
done
[ "$(id -u)" = 0 ] || refuse 'booting a machine needs root'
exec {alone}>/run/lock/scheduled-events-bridge-boot
flock --nonblock "$alone" || refuse 'another boot.sh runs here, and the machines of both would share their cgroups; wait for it'
unshare --mount --net --pid --fork true 2>/dev/null || refuse 'this machine may not make namespaces, so it cannot boot another'

work=$(mktemp -d)
cache=${cache:-$work/cache}
mkdir -p "$cache"
proofs=0

# shellcheck source-path=SCRIPTDIR source=machine.sh
. "$here/machine.sh"
for part in "$here"/facts/*.sh; do
  # shellcheck source=/dev/null
  . "$part"
done

clean_up() {
  local code=$?
  stop_machine
  if [ -n "$keep" ] && ((code)); then echo "kept for a look: $work" >&2; else rm -rf "$work"; fi
}
trap clean_up EXIT

for suite in "${suites[@]}"; do
  root=$work/$suite
  section "$suite: a fresh system"
  make_root
  prove_install
  prove_without_boot
  boot_machine
  section "$suite: systemd $(systemd_version), booted"
  prove_by_hand
  prove_configuration_faults
  prove_start
  prove_sandbox
  prove_both_services
  prove_trail_care
  prove_reload
  prove_rotation
  prove_death
  prove_watchdog
  prove_stop
  prove_outbox_over_reboot
  prove_shutdown_order
  prove_drop_ins
  prove_upgrade
  prove_removal
  prove_guides
  stop_machine
  rm -rf "$root"
done
printf '\n%s proofs, none failed, on: %s\n' "$proofs" "${suites[*]}"
