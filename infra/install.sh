#!/bin/sh
# Installs the Scheduled Events Bridge: verified first, tried first, and with the package before it kept for the way back.
#
# One file, because it is fetched as one. POSIX sh, because what follows a pipe is a small shell on Debian and Ubuntu.
# All of it is functions and the last line runs them: a script that arrived only in part does nothing.
set -eu

name=scheduled-events-bridge
program=/usr/lib/$name/bin/seb
settings=/etc/$name
kept=/var/cache/$name
agent=$name-agent.service

usage() {
  cat <<'END'
Installs the Scheduled Events Bridge on this machine, or another version of it. Starts nothing unless told to.

Usage: install.sh --from PLACE [OPTION]...
       install.sh --rollback [OPTION]...

  --from PLACE       where SHA256SUMS and the packages lie: an https URL, or a directory
  --version VERSION  which one; may be left out where SHA256SUMS names only one
  --sha256 HEX       what the package must hash to; SHA256SUMS is not needed then
  --sums-sha256 HEX  what SHA256SUMS itself must hash to
  --format FORMAT    deb, rpm or tar; told from the distribution unless given
  --rollback         goes back to the package that was installed before
  --config FILE      becomes /etc/scheduled-events-bridge/agent.yaml, if the new version accepts it; the one before
                     is kept beside it
  --start            enables and starts the agent afterwards; a running one takes a new configuration up
  --dry-run          fetches, verifies and tries, and changes nothing
  --help             prints this

There is no published place yet that --from could default to. SHA256SUMS proves that a package is the one its
publisher listed only if SHA256SUMS came from the publisher: give --sha256 or --sums-sha256 from a place you trust
more than PLACE. Exit codes: 0 fine, 1 failed, 2 wrong usage.
END
}

say() { printf '%s\n' "$*"; }

fail() { # SENTENCE [CODE]
  printf 'install.sh: %s\n' "$1" >&2
  exit "${2:-1}"
}

parse() {
  from='' version='' sha256='' sums_sha256='' format='' config='' rollback='' start='' dry_run='' new_configuration=''
  while [ $# -gt 0 ]; do
    case $1 in
      --from | --version | --sha256 | --sums-sha256 | --format | --config)
        [ $# -gt 1 ] || fail "$1 needs a value" 2
        take "$1" "$2"
        shift
        ;;
      --rollback) rollback=yes ;;
      --start) start=yes ;;
      --dry-run) dry_run=yes ;;
      --help) usage && exit 0 ;;
      *) fail "there is no option $1; see --help" 2 ;;
    esac
    shift
  done
  coherent
}

take() { # OPTION VALUE
  case $1 in
    --from) from=${2%/} ;;
    --version) version=$2 ;;
    --sha256) sha256=$(hash_in "$1" "$2") ;;
    --sums-sha256) sums_sha256=$(hash_in "$1" "$2") ;;
    --format) format=$2 ;;
    --config) config=$2 ;;
  esac
}

hash_in() { # OPTION VALUE
  case $2 in *[!0-9a-fA-F]*) fail "$1 must be 64 hexadecimal digits" 2 ;; esac
  [ ${#2} -eq 64 ] || fail "$1 must be 64 hexadecimal digits" 2
  printf %s "$2" | tr A-F a-f
}

coherent() {
  case $version in *[!0-9A-Za-z.~+-]*) fail "--version $version is no version" 2 ;; esac
  [ -z "$config" ] || [ -f "$config" ] || fail "there is no file $config"
  case $format in '' | deb | rpm | tar) ;; *) fail "--format must be deb, rpm or tar" 2 ;; esac
  if [ "$rollback" ]; then
    [ -z "$from$version$sha256$sums_sha256" ] || fail "--rollback takes the package that is kept here: leave --from, --version and the hashes out" 2
    return
  fi
  case $from in
    '') fail "--from is needed: there is no published place to install from yet" 2 ;;
    https://*) command -v curl >/dev/null || fail "curl is needed to fetch from $from; install it, or give a directory" ;;
    *://*) fail "--from must be an https URL or a directory" 2 ;;
    *) [ -d "$from" ] || fail "there is no directory $from" ;;
  esac
  [ -z "$sha256" ] || [ "$version" ] || fail "--sha256 needs --version: it says which file is meant" 2
}

# One at a time, in a place of our own: temporary directories often forbid to run what lies in them.
prepare() {
  [ "$(id -u)" = 0 ] || fail "run it as root"
  umask 022
  mkdir -p "$kept/packages"
  if command -v flock >/dev/null; then
    exec 9>"$kept/lock"
    flock -n 9 || fail "another install.sh is at work here"
  fi
  work=$(mktemp -d "$kept/work.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
}

architecture() {
  case $(uname -m) in
    x86_64 | amd64) echo x64 ;;
    aarch64 | arm64) echo arm64 ;;
    *) fail "there is no package for the architecture $(uname -m): only for x86_64 and aarch64" ;;
  esac
}

# https://www.freedesktop.org/software/systemd/man/os-release.html: ID, and ID_LIKE for what is derived from it.
format_here() {
  # shellcheck source=/dev/null
  like=$( (. /etc/os-release && echo " ${ID:-} ${ID_LIKE:-} ") 2>/dev/null || true)
  case $like in
    *' debian '* | *' ubuntu '*) echo deb ;;
    *' rhel '* | *' fedora '* | *' centos '* | *' suse '* | *' sles '* | *' azurelinux '* | *' mariner '*) echo rpm ;;
    *) if command -v dpkg >/dev/null; then echo deb; elif command -v rpm >/dev/null; then echo rpm; else echo tar; fi ;;
  esac
}

file_name() { # VERSION: a star stands for any
  case $format-$arch in
    deb-x64) echo "${name}_${1}_amd64.deb" ;;
    deb-arm64) echo "${name}_${1}_arm64.deb" ;;
    rpm-x64) echo "$name-$1-1.x86_64.rpm" ;;
    rpm-arm64) echo "$name-$1-1.aarch64.rpm" ;;
    *) echo "$name-$1-linux-$arch.tar.gz" ;;
  esac
}

fetch() { # FILE BYTES_MAX: from --from into the working directory
  case $from in
    https://*)
      said=$(curl --proto '=https' --proto-redir '=https' --tlsv1.2 --fail --silent --show-error --location \
        --connect-timeout 20 --max-time 900 --max-filesize "$2" --output "$work/$1" "$from/$1" 2>&1) ||
        fail "$1 could not be fetched from $from (${said#curl: }); nothing was changed"
      ;;
    *)
      [ -f "$from/$1" ] || fail "there is no $1 in $from; nothing was changed"
      cp "$from/$1" "$work/$1"
      ;;
  esac
}

hash_of() { # FILE
  hashed=$(sha256sum "$1")
  printf %s "${hashed%% *}"
}

verify() { # FILE HEX SOURCE
  found=$(hash_of "$work/$1")
  [ "$found" = "$2" ] || fail "$1 is not what $3 says: its SHA-256 is $found, and should be $2; nothing was changed"
}

# Sets `package` and `sha256`, and puts the verified package into the working directory.
obtain() {
  if [ "$rollback" ]; then
    recall
  elif [ -z "$sha256" ]; then
    look_up
  else
    package=$(file_name "$version") trusted=--sha256
  fi
  fetch "$package" 500000000
  verify "$package" "$sha256" "$trusted"
}

recall() {
  [ -s "$kept/previous" ] ||
    fail "no earlier package is kept in $kept: only what install.sh put here before it can be gone back to; give --from and --version"
  read -r sha256 package <"$kept/previous"
  from=$kept/packages trusted="the record in $kept" format=${package##*.}
  [ "$format" != gz ] || format=tar
}

look_up() {
  fetch SHA256SUMS 1000000
  [ -z "$sums_sha256" ] || verify SHA256SUMS "$sums_sha256" --sums-sha256
  pattern=$(file_name "${version:-*}")
  found=''
  while read -r hash file; do
    # A name and no path: it is put together with a folder below.
    case ${file#\*} in *[!0-9A-Za-z._~+-]*) continue ;; esac
    # shellcheck disable=SC2254 # the star in the pattern is meant as one
    case ${file#\*} in $pattern) found="$found $hash ${file#\*}" ;; esac
  done <"$work/SHA256SUMS"
  # shellcheck disable=SC2086 # two words for each file
  set -- $found
  [ $# -ge 2 ] || fail "SHA256SUMS in $from names no $pattern; nothing was changed"
  [ $# -eq 2 ] || fail "SHA256SUMS in $from names several versions: say which with --version" 2
  sha256=$1 package=$2 trusted=SHA256SUMS
}

installed_version() { "$program" --version 2>/dev/null || true; }

is_installed_already() {
  [ "$(cat "$kept/installed" 2>/dev/null)" = "$sha256 $package" ] && [ "$before" = "$(version_in "$package")" ]
}

version_in() { # FILE
  version_rest=${1#"$name"[-_]}
  version_rest=${version_rest%_*.deb}
  version_rest=${version_rest%-1.*.rpm}
  printf %s "${version_rest%-linux-*.tar.gz}"
}

unpack() { # into the working directory; the rpm's own root, because cpio is not everywhere
  mkdir "$work/tree"
  case $format in
    deb) dpkg-deb -x "$work/$package" "$work/tree" ;;
    rpm) rpm --root "$work/tree" --nosignature -i --nodeps --noscripts --notriggers "$work/$package" ;;
    tar) tar -xzf "$work/$package" -C "$work/tree" --no-same-owner ;;
  esac
}

# Runs the new program before the old one is touched: on too old a system it ends here, with what it says.
try_out() {
  unpack || fail "$package cannot be unpacked; nothing was changed"
  new=$work/tree$program
  said=$(timeout 60 "$new" --version 2>&1) ||
    fail "the program does not run on this machine, which must have glibc 2.28 or later: $said; nothing was changed"
  accepts "$new" agent "${config:-$settings/agent.yaml}"
  accepts "$new" consumer "$settings/consumer.yaml"
  if is_older "$said" "$before"; then
    keeps_state "$said" agent outbox list
    keeps_state "$said" consumer events
  fi
}

accepts() { # PROGRAM agent|consumer FILE
  [ -f "$3" ] || return 0
  complaint=$(timeout 60 "$1" config show --program "$2" -c "$3" 2>&1 >/dev/null) ||
    fail "the $2 of $package refuses $3; nothing was changed: $complaint"
}

is_older() { # A B
  [ "$2" ] && [ "$1" != "$2" ] && [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]
}

# An agent that cannot use its outbox runs on, and delivers nothing: better not to go back at all.
keeps_state() { # VERSION agent|consumer COMMAND...: a command that reads what that program wrote
  older=$1 file=$settings/$2.yaml kind=$2
  shift 2
  timeout 60 "$program" "$@" -c "$file" -o json >/dev/null 2>&1 || return 0
  timeout 60 "$new" "$@" -c "$file" -o json >/dev/null 2>&1 ||
    fail "the $kind of version $older cannot use what version $before wrote; nothing was changed: set that aside first, as docs/upgrade.md says"
}

# apt waits for the lock that the updates at boot hold; the hash was checked, so rpm need not look for a signature.
put_in() {
  case $format in
    deb)
      if command -v apt-get >/dev/null; then
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --reinstall --allow-downgrades --no-install-recommends \
          -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-confold "$work/$package"
      else
        dpkg -i --force-confold "$work/$package"
      fi
      ;;
    rpm) rpm -U --oldpackage --replacepkgs --nosignature "$work/$package" ;;
    tar) put_in_tree ;;
  esac
}

# A program that runs cannot be written over, but another can take its name.
put_in_tree() {
  (cd "$work/tree" && find usr ! -type d) >"$work/files" || return 1
  while read -r file; do
    mkdir -p "/${file%/*}" && cp -P -p "$work/tree/$file" "/$file.new" && mv -f "/$file.new" "/$file" || return 1
  done <"$work/files"
  cp "$work/files" "/usr/lib/$name/files" || return 1 # what to remove some day
  mkdir -p "$settings/credentials" && chmod 0700 "$settings/credentials" || return 1
  fit_to_systemd || return 1
  if [ -d /run/systemd/system ]; then systemctl daemon-reload && systemctl try-restart "$name-*.service"; fi
}

# Systemd before 251 cannot load a folder of credentials; the packages bring the same drop-in by themselves.
fit_to_systemd() {
  number=$(systemctl --version 2>/dev/null | sed -n '1s/^systemd \([0-9]*\).*/\1/p')
  for kind in agent consumer; do
    folder=/etc/systemd/system/$name-$kind.service.d
    rm -f "$folder/older-systemd.conf"
    if [ "${number:-251}" -ge 251 ]; then continue; fi
    mkdir -p "$folder" && ln -sf "/usr/lib/$name/older-systemd.conf" "$folder/older-systemd.conf" || return 1
  done
}

# Keeps two packages: the one that is installed now, and the one before.
keep() {
  mv "$work/$package" "$kept/packages/$package"
  now="$sha256 $package"
  last=$(cat "$kept/installed" 2>/dev/null || true)
  if [ "$last" ] && [ "$last" != "$now" ]; then printf '%s\n' "$last" >"$kept/previous"; fi
  printf '%s\n' "$now" >"$kept/installed"
  for file in "$kept/packages/"*; do
    grep -qsF " ${file##*/}" "$kept/installed" "$kept/previous" || rm -f "$file"
  done
}

put_configuration() {
  if [ -z "$config" ] || cmp -s "$config" "$settings/agent.yaml"; then return; fi
  mkdir -p "$settings"
  [ ! -f "$settings/agent.yaml" ] || cp -p "$settings/agent.yaml" "$settings/agent.yaml.before"
  cp "$config" "$settings/agent.yaml.new" && chmod 0644 "$settings/agent.yaml.new"
  mv -f "$settings/agent.yaml.new" "$settings/agent.yaml"
  new_configuration=yes
}

take_back_configuration() {
  [ "$new_configuration" ] || return 0
  mv -f "$settings/agent.yaml.before" "$settings/agent.yaml" 2>/dev/null || rm -f "$settings/agent.yaml"
}

start_agent() {
  systemctl enable --quiet "$agent"
  if [ ! -d /run/systemd/system ]; then
    say "systemd does not run here: the agent starts at the next boot"
    return
  fi
  [ -z "$new_configuration" ] || systemctl try-reload-or-restart "$agent"
  systemctl start "$agent" || fail "$package is installed, but the agent does not start: journalctl -u $agent says why"
  say "the agent runs"
}

main() {
  parse "$@"
  prepare
  arch=$(architecture)
  format=${format:-$(format_here)}
  before=$(installed_version)
  [ -z "$start" ] || [ "$config" ] || [ -f "$settings/agent.yaml" ] ||
    fail "there is no $settings/agent.yaml to start the agent with, and no --config; nothing was changed"
  obtain
  if is_installed_already; then
    accepts "$program" agent "$config"
    [ "$dry_run" ] || put_configuration
    say "$package is installed already${new_configuration:+, and the configuration is new}"
  else
    try_out
    [ -z "$dry_run" ] || { say "$package is good, and would be installed${before:+ in place of version $before}" && exit 0; }
    put_configuration
    put_in || { take_back_configuration && fail "$package could not be installed: what the package manager says is above"; }
    keep
    say "$package is installed"
  fi
  if [ "$start" ]; then
    start_agent
  elif [ -z "$before" ]; then
    say "Nothing was started: asking for Scheduled Events switches them on for the VM. Write $settings/agent.yaml, then: systemctl enable --now $agent"
  fi
}

main "$@"
