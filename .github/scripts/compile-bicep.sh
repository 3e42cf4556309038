#!/usr/bin/env bash
# Lints and compiles every Bicep file of the repository, and its parameter files, with `az bicep`; a warning is a failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

diagnostics=$(mktemp)
trap 'rm -f "$diagnostics"' EXIT
files=0 wrong=0

# Some examples take secrets from here, and cannot be compiled without them.
export TEAMS_WORKFLOW_URL=https://example.org/
export APPLICATION_PACKAGE_LINK=https://example.org/ APPLICATION_CONFIGURATION_LINK=https://example.org/

# check FILE COMMAND...: az tells of a newer compiler on standard error, too, so only findings with a place count.
check() {
  local file=$1
  shift
  if ! "$@" >/dev/null 2>"$diagnostics" || grep -qE '\([0-9]+,[0-9]+\) : (Warning|Error) ' "$diagnostics"; then
    printf '%s: %s\n' "$file" "${*:1:3}" >&2
    cat "$diagnostics" >&2
    wrong=$((wrong + 1))
  fi
}

while IFS= read -r -d '' file; do
  files=$((files + 1))
  case $file in
    *.bicepparam) check "$file" az bicep build-params --file "$file" --stdout ;;
    *)
      check "$file" az bicep lint --file "$file"
      check "$file" az bicep build --file "$file" --stdout
      ;;
  esac
done < <(find bicep \( -name '*.bicep' -o -name '*.bicepparam' \) -print0 | sort -z)

echo "$files files, $wrong findings"
((files > 0 && wrong == 0))
