#!/usr/bin/env bash
# What Azure runs on a VM for this VM Application: manage.sh install, update or remove, in the folder it was unpacked to.
#
# All three may be run again at any time. None of them touches the credentials or the outbox, and going back to an
# older version is an update like any other.
set -euo pipefail

name=scheduled-events-bridge
settings=/etc/$name/agent.yaml

refuse() {
  printf 'manage.sh: %s\n' "$1" >&2
  exit "${2:-1}"
}

# Azure puts the configuration beside the package, under the name that the gallery version gives it.
put_in_place() {
  local options=(--from "$PWD")
  [ -f agent.yaml ] && options+=(--config agent.yaml)
  if [ -f agent.yaml ] || [ -f "$settings" ]; then
    options+=(--start)
  else
    echo "no configuration came along and there is none at $settings: nothing will be started"
  fi
  sh ./install.sh "${options[@]}"
}

# The configuration stays, and so does all that is not delivered yet: whoever installs it again goes on from there.
remove() {
  if [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$name" 2>/dev/null)" = installed ]; then
    DEBIAN_FRONTEND=noninteractive apt-get remove -qq -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$name"
  elif rpm --query --quiet "$name" 2>/dev/null; then
    rpm --erase "$name"
  else
    echo "$name is not installed"
    return
  fi
  echo "$name is removed; /etc/$name and /var/lib/$name are kept"
}

main() {
  cd "$(dirname "${BASH_SOURCE[0]}")"
  [ "$(id -u)" = 0 ] || refuse 'run it as root'
  case ${1:-} in
    install | update) put_in_place ;;
    remove) remove ;;
    *) refuse 'say what to do: install, update or remove' 2 ;;
  esac
}

main "$@"
