#!/usr/bin/env bash
# Installs the real Borg client 2.0.0b25, to be compared with, as DIR/borg2 (DIR: first argument, else ~/.cache/borg-peers).
# Does nothing when it is there already. Needs Debian or Ubuntu, network, and root (or sudo) where packages are missing.
# Takes about 8 minutes on two cores where OpenSSL has to be built: Borg 2 wants 3.2 or later.
set -euo pipefail
version=2.0.0b25
dir=${1:-$HOME/.cache/borg-peers}
borg=$dir/borg2
if [ -x "$borg" ] && "$borg" --version | grep -qF "$version"; then
  echo "borg $version is installed: $borg"
  exit 0
fi
mkdir -p "$dir"

bash "$(dirname "$0")/packages.sh" build-essential perl pkg-config python3-dev python3-venv libssl-dev libacl1-dev \
  libxxhash-dev liblz4-dev libzstd-dev acl attr

# 3.2 or later: the system's, else built from the sources that the crate openssl-src packs.
prefix=/usr
if ! pkg-config --atleast-version=3.2 libcrypto; then
  prefix=$dir/openssl
  if [ ! -e "$prefix/lib/libcrypto.a" ]; then
    echo "building OpenSSL into $prefix"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    (cd "$work" && cargo init -q --lib --vcs none --name fetch . && cargo add -q openssl-src@300 && cargo fetch -q)
    sources=$(ls -d "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/openssl-src-300*/openssl | tail -1)
    cp -r "$sources" "$work/openssl"
    (
      cd "$work/openssl"
      ./Configure --prefix="$prefix" --libdir=lib no-shared no-module no-tests no-docs no-apps -fPIC >/dev/null
      make -s -j"$(nproc)" build_libs >/dev/null 2>&1
    )
    mkdir -p "$prefix/lib"
    cp -r "$work/openssl/include" "$prefix/"
    cp "$work/openssl/libcrypto.a" "$prefix/lib/"
  fi
fi

echo "installing borgbackup $version into $dir/venv2"
"${PYTHON:-python3}" -m venv "$dir/venv2"
"$dir/venv2/bin/pip" install -q -U pip
BORG_OPENSSL_PREFIX=$prefix "$dir/venv2/bin/pip" install -q "borgbackup==$version"
ln -sfn "$dir/venv2/bin/borg" "$borg"
"$borg" --version
