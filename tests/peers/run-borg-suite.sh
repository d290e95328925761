#!/usr/bin/env bash
# Runs Borg 2.0.0b25's own archiver tests against a program that claims to be a drop-in `borg`.
#   run-borg-suite.sh PROGRAM [FILE_test.py ...] [pytest's arguments, such as -n 2, or -k "binary_archiver and depth"]
# The suite runs every command through a program borg.exe if PATH has one (tests named "binary_archiver").
# Prints the tests that fail, and the counts last.
# With the argument --forced, tests that have no such mode are run, and through the program, too.
#   BORG_PEERS: the folder of the real clients (default: ~/.cache/borg-peers)
set -uo pipefail
here=$(dirname "$(realpath "$0")")
peers=${BORG_PEERS:-$HOME/.cache/borg-peers}
program=$(realpath "${1:?a program}"); shift
python=$peers/venv2/bin/python
"$python" -c 'import pytest, pytest_timeout, pytest_benchmark, xdist' 2>/dev/null ||
  "$python" -m pip install -q pytest pytest-timeout pytest-benchmark pytest-xdist || exit 2
borg=$("$python" -c 'import borg, os; print(os.path.dirname(borg.__file__))') || exit 2
bin=$(mktemp -d); trap 'rm -rf "$bin"' EXIT
# The suite removes BORG_* from the environment.
{
  echo '#!/bin/sh'
  for name in PORTABORG BORG_PEER BORG_PEER_LOG; do
    [ -z "${!name:-}" ] || printf 'export %s=%q\n' "$name" "${!name}"
  done
  printf 'exec %q "$@"\n' "$program"
} >"$bin/borg.exe"
chmod +x "$bin/borg.exe"
files=(); rest=(-k binary)
for argument in "$@"; do
  if [ "$argument" = --forced ]; then
    rest=(-p through_program -k "not archiver] and not archiver- and not -archiver")
    export PYTHONPATH=$here${PYTHONPATH:+:$PYTHONPATH}
  elif [ -e "$borg/testsuite/archiver/$argument" ]; then files+=("$borg/testsuite/archiver/$argument"); else rest+=("$argument"); fi
done
[ ${#files[@]} -gt 0 ] || files=("$borg/testsuite/archiver")
cd "$bin" && PATH=$bin:$PATH "$python" -m pytest "${files[@]}" --rootdir="$borg" --confcutdir="$borg" \
  -q -p no:cacheprovider --timeout 120 -rf --tb=short "${rest[@]}"
