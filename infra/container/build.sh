#!/usr/bin/env bash
# Builds the image with buildah, as root and without a daemon, into an OCI archive:
#   build.sh [--arch x64|arm64] EXECUTABLE NOTICES ARCHIVE
# The same files, version and revision give the same digest, which is the only line on standard output.
set -euo pipefail

name=scheduled-events-bridge
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

main() {
  local arch=x64
  if [ "${1-}" = --arch ]; then
    arch=${2-}
    shift 2
  fi
  [ $# = 3 ] || fail "usage: build.sh [--arch x64|arm64] EXECUTABLE NOTICES ARCHIVE"
  local executable=$1 notices=$2 archive=$3 version
  version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' "$here/../../package.json")
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  "$here/prepare-context.sh" "$arch" "$executable" "$notices" "$scratch/context"
  build_image "${arch/x64/amd64}" "$version"
  pack "$archive"
}

fail() {
  echo "build.sh: $1" >&2
  exit 1
}

revision() {
  printf '%s' "${REVISION:-$(git -C "$here" rev-parse HEAD 2>/dev/null || echo unknown)}"
}

# Everything in the image carries this time: that of the newest entry of the changelog, as in the packages.
moment() {
  printf '%s' "${SOURCE_DATE_EPOCH:-$(date --date="$(sed -n '/^ -- /{s/^.*>  //p;q}' "$here/../packages/changelog")" +%s)}"
}

# A store of its own, gone afterwards, with the driver that needs nothing of the kernel.
store() {
  buildah --root "$scratch/store" --runroot "$scratch/run" --storage-driver vfs "$@"
}

build_image() { # ARCHITECTURE VERSION
  store build --isolation chroot --platform "linux/$1" --timestamp "$(moment)" --quiet \
    --build-arg "VERSION=$2" --build-arg "REVISION=$(revision)" \
    --file "$here/Containerfile" --tag "$name:$2" "$scratch/context" >/dev/null
  store push --quiet --format oci "$name:$2" "oci:$scratch/layout:$name:$2" >/dev/null
}

pack() { # ARCHIVE
  tar --create --file "$1" --directory "$scratch/layout" --sort=name --mtime="@$(moment)" \
    --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX .
  grep -o 'sha256:[0-9a-f]\{64\}' "$scratch/layout/index.json"
}

main "$@"
