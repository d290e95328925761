#!/bin/sh
# Stands in for `borg`: commands that portaborg has go to it, all others to the real client.
#   PORTABORG: our program (default: target/debug/portaborg of this repository)
#   BORG_PEER: the real client (default: ~/.cache/borg-peers/borg2)
#   BORG_PEER_LOG: a file to which every call adds a line, "ours" or "peer" and the command's word
here=$(dirname "$(realpath "$0")")
ours=${PORTABORG:-$here/../../target/debug/portaborg}
peer=${BORG_PEER:-$HOME/.cache/borg-peers/borg2}

word= second= skip= to=peer writes=
for arg in "$@"; do
  if [ -n "$skip" ]; then skip=; continue; fi
  case $arg in
    -r | --repo | --lock-wait | --umask | --debug-topic | --rsh | --socket | --upload-ratelimit) skip=1 ;;
    --repair | --find-lost-archives | --config | --print_config* | --print-config*) writes=1 ;;
    -*) ;;
    *) if [ -z "$word" ]; then word=$arg; elif [ -z "$second" ]; then second=$arg; fi ;;
  esac
done
case $word in
  "" | create | repo-list | repo-info | list | info | extract | check | version | help | break-lock | key) to=ours ;;
esac
[ -z "$writes" ] || to=peer
[ -z "$BORG_PEER_LOG" ] || echo "$to $word $second" >>"$BORG_PEER_LOG"
if [ $to = ours ]; then exec "$ours" "$@"; fi
exec "$peer" "$@"
