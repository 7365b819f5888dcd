#!/usr/bin/env bash
# Installs what tools/packages.txt names: Debian packages system-wide, Python
# packages into .venv inside the checkout. Does nothing, in well under a second,
# when that was done for this very list before.
set -euo pipefail
cd "$(dirname "$0")/.."

list=tools/packages.txt
stamp=.venv/.packages
say() { printf '== %s\n' "$*"; }

if [[ -f $stamp ]] && cmp -s "$list" "$stamp"; then
  exit 0
fi

names() { sed -e 's/#.*//' "$list" | awk -v kind="$1" '$1 == kind {print $2}'; }

mapfile -t wanted < <(names apt)
missing=()
for package in "${wanted[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null |
    grep -q 'ok installed' || missing+=("$package")
done
if ((${#missing[@]} > 0)); then
  sudo=()
  if ((EUID != 0)); then sudo=(sudo); fi
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  "${sudo[@]}" apt-get update -q
  DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -q \
    --no-install-recommends "${missing[@]}"
fi

say "installing Python packages into .venv (about 3 GB, a few minutes)"
python3 -m venv .venv
mapfile -t pip < <(names pip)
progress=on
[[ -t 1 ]] || progress=off
.venv/bin/python -m pip install --progress-bar "$progress" "${pip[@]}" |
  { grep -vE '^(Requirement already|  Using cached|Collecting|  Downloading .*metadata)' || true; }
# Only now: an interrupted run starts over.
cp "$list" "$stamp"
say "set-up is complete"
