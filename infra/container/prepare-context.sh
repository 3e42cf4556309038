#!/usr/bin/env bash
# Fills a folder with exactly what the image holds: prepare-context.sh x64|arm64 EXECUTABLE NOTICES CONTEXT
#
# The libraries are those of this machine's packages (Debian or Ubuntu), or, for the other architecture, those of
# Debian 12 from its archive, checked by apt against Debian's keys. Their versions stand in the image, where scanners
# look for them: /var/lib/dpkg/status.d.
set -euo pipefail

user=65532
# What Node's executable is linked with; test/packages/container.test.ts holds that it is all of it and no more.
libraries=(libc.so.6 libdl.so.2 libm.so.6 libpthread.so.0 libgcc_s.so.1 libstdc++.so.6)
packages=(libc6 libgcc-s1 libstdc++6)

main() {
  [ $# = 4 ] || fail "usage: prepare-context.sh x64|arm64 EXECUTABLE NOTICES CONTEXT"
  local executable=$2 notices=$3 context=$4 system
  choose_architecture "$1"
  [ -f "$executable" ] || fail "there is no executable at $executable"
  [ "$(machine_of "$executable")" = "$machine" ] || fail "$executable is no Linux program for $1"
  [ -f "$notices" ] || fail "there are no third-party notices at $notices"
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  choose_packages
  umask 022
  rm -rf "${context:?}/$architecture" "$context/state" "$context/guarded"
  system=$context/$architecture/system
  install -d -m 0755 "$system"
  install -d -m 0700 "$context/state"
  install -d -m 0755 "$context/guarded"
  install -d -m 0500 "$context/guarded/keys"
  install -m 0755 "$executable" "$context/$architecture/seb"
  copy_libraries "$system"
  copy_record_of_packages "$system"
  write_accounts "$system/etc"
  install -D -m 0644 "$notices" "$system/usr/share/doc/scheduled-events-bridge/THIRD-PARTY-LICENSES.txt"
  install -m 0644 "$(dirname "$0")/../../LICENSE" "$system/usr/share/doc/scheduled-events-bridge/copyright"
}

fail() {
  echo "prepare-context.sh: $1" >&2
  exit 1
}

# Docker's name of the architecture, Debian's folder of libraries, and the loader that the executable names.
choose_architecture() {
  case $1 in
    x64) architecture=amd64 machine=3e00 triplet=x86_64-linux-gnu loader=/lib64/ld-linux-x86-64.so.2 ;;
    arm64) architecture=arm64 machine=b700 triplet=aarch64-linux-gnu loader=/lib/ld-linux-aarch64.so.1 ;;
    *) fail "the architecture is x64 or arm64, not $1" ;;
  esac
}

# The machine an ELF file is for, as its two bytes stand there.
machine_of() { # FILE
  if [ "$(head -c 4 "$1")" = $'\177ELF' ]; then od -An -v -tx1 -j18 -N2 "$1" | tr -d ' '; fi
}

# Where the packages are unpacked, and how to ask for what their control files say.
choose_packages() {
  command -v dpkg >/dev/null || fail "the libraries are taken from packages of Debian or Ubuntu, and there is no dpkg"
  if [ "$(dpkg --print-architecture)" = "$architecture" ]; then
    root='' is_foreign=no
  else
    root=$scratch/root is_foreign=yes
    fetch_packages
  fi
}

fetch_packages() {
  local base archive=$scratch/archive
  mkdir -p "$archive/lists/partial" "$archive/cache/archives/partial" "$root"
  local keys='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
  printf 'deb %s http://deb.debian.org/%s main\n' "$keys" 'debian bookworm' "$keys" 'debian-security bookworm-security' \
    >"$archive/sources.list"
  local options=(-qq -o "Dir::State=$archive" -o "Dir::State::lists=$archive/lists" -o Dir::State::status=/dev/null
    -o "Dir::Cache=$archive/cache" -o "Dir::Etc::sourcelist=$archive/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture" -o Acquire::Languages=none
    -o "APT::Sandbox::User=$(id -un)" -o APT::Update::Error-Mode=any)
  apt-get "${options[@]}" update
  (cd "$archive" && apt-get "${options[@]}" download "${packages[@]}" base-files)
  # The copyright of what GCC makes is in a package of its own, whose name holds GCC's version.
  base=$(dpkg-deb -f "$archive"/libstdc++6_*.deb Depends | grep -o 'gcc-[0-9]*-base')
  (cd "$archive" && apt-get "${options[@]}" download "$base")
  local package
  for package in "$archive"/*.deb; do dpkg-deb -x "$package" "$root"; done
}

copy_libraries() { # SYSTEM
  local library
  for library in "${libraries[@]}"; do
    install -D -m 0644 "$(found "/lib/$triplet/$library")" "$1/lib/$triplet/$library"
  done
  install -D -m 0755 "$(found "/lib/$triplet/${loader##*/}")" "$1$loader"
}

# Some packages name /lib, some /usr/lib: on a machine they are the same folder, beside each other unpacked they are not.
found() { # PATH
  local place
  for place in "$root$1" "$root/usr$1"; do
    if [ -e "$place" ]; then
      readlink -f "$place"
      return
    fi
  done
  fail "the packages hold no $1"
}

copy_record_of_packages() { # SYSTEM
  local package copyright
  # shellcheck disable=SC2016 # dpkg fills these in
  local fields='Package: ${Package}\nVersion: ${Version}\nArchitecture: ${Architecture}\nSource: ${source:Package} (${source:Version})\nMaintainer: ${Maintainer}\nStatus: install ok installed\n'
  install -d -m 0755 "$1/var/lib/dpkg/status.d"
  for package in "${packages[@]}"; do
    if [ "$is_foreign" = yes ]; then
      dpkg-deb -W --showformat="$fields" "$scratch/archive/${package}"_*.deb
    else
      dpkg-query -W -f="$fields" "$package:$architecture"
    fi >"$1/var/lib/dpkg/status.d/$package"
    copyright=$root/usr/share/doc/$package/copyright
    [ -e "$copyright" ] || fail "the package $package holds no copyright file"
    install -D -m 0644 "$copyright" "$1/usr/share/doc/$package/copyright"
  done
  install -D -m 0644 "$root/usr/lib/os-release" "$1/etc/os-release"
}

# Without a name for its user, programs that ask for one fail.
write_accounts() { # ETC
  local home=/var/lib/scheduled-events-bridge name=scheduled-events-bridge
  install -d -m 0755 "$1"
  printf '%s\n' 'root:x:0:0:root:/nonexistent:/nonexistent' "$name:x:$user:$user:$name:$home:/nonexistent" >"$1/passwd"
  printf '%s\n' 'root:x:0:' "$name:x:$user:" >"$1/group"
}

main "$@"
