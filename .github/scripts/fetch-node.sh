#!/usr/bin/env bash
# Fetches Node for every platform we release for from nodejs.org, and believes only what one of its releasers signed:
#   fetch-node.sh VERSION DIRECTORY
# leaves DIRECTORY/{linux-x64,linux-arm64,win-x64}/node or node.exe.
set -euo pipefail

version=$1
directory=$2
from=${NODE_MIRROR:-https://nodejs.org/dist}/v$version
# The releasers of https://github.com/nodejs/node#release-keys
releasers=(
  5BE8A3F6C8A5C01D106C0AD820B1A390B168D356
  DD792F5973C6DE52C432CBDAC77ABFA00DDBF2B7
  CC68F5A3106FF448322E48ED27F5E38D5B0A215F
  890C08DB8579162FEE0DF9DB8BEAB4DFCF555EF4
  C82FA3AE1CBEDC6BE46B9360C43CEC45C17AB93C
  108F52B48DB57BB0CC439B2997B01419BD92F80A
  655F3B5C1FB3FA8D1A0CA6BDE4A7D232B936D2FD
  A363A499291CBBC940DD62E41F10027AF002F8B0
)

GNUPGHOME=$(mktemp -d)
export GNUPGHOME
work=$(mktemp -d)
trap 'rm -rf "$GNUPGHOME" "$work"' EXIT

fetch() { curl --fail --silent --show-error --location --proto =https --max-time 300 --retry 3 --output "$work/$1" "$from/$1"; }

# What was not asked for by its fingerprint does not get into this key ring, so a good signature is one of theirs.
# `--verify` and not `--decrypt`, which also takes what nobody signed at all.
gpg --batch --quiet --keyserver hkps://keys.openpgp.org --recv-keys "${releasers[@]}"
fetch SHASUMS256.txt.asc
gpg --batch --quiet --verify --output "$work/SHASUMS256.txt" "$work/SHASUMS256.txt.asc"

unpack() { # PLATFORM ARCHIVE MEMBER
  local platform=$1 archive=$2 member=$3
  fetch "$archive"
  (cd "$work" && grep -F "  $archive" SHASUMS256.txt | sha256sum --check --strict --quiet -)
  mkdir -p "$directory/$platform"
  case $archive in
    *.zip) unzip -q -j "$work/$archive" "$member" -d "$directory/$platform" ;;
    *) tar -xJf "$work/$archive" --no-same-owner --strip-components=2 -C "$directory/$platform" "$member" ;;
  esac
}

for architecture in x64 arm64; do
  name=node-v$version-linux-$architecture
  unpack "linux-$architecture" "$name.tar.xz" "$name/bin/node"
done
name=node-v$version-win-x64
unpack win-x64 "$name.zip" "$name/node.exe"
