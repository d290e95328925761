#!/usr/bin/env bash
# Installs those of the packages named that are missing. Needs Debian or Ubuntu, and root (or sudo) where some are.
set -euo pipefail
missing=()
for package in "$@"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing packages: ${missing[*]}"
  root=()
  [ "$(id -u)" = 0 ] || root=(sudo -n)
  "${root[@]}" apt-get update -q >/dev/null
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >/dev/null
fi
