#!/bin/sh
# Stands in for `borg`: commands that portaborg has go to it, all others to the real client.
#   PORTABORG: our program (default: target/debug/portaborg of this repository)
#   BORG_PEER: the real client (default: ~/.cache/borg-peers/borg2)
#   BORG_PEER_LOG: a file to which every call adds a line, "ours" or "peer" and the command's word
here=$(dirname "$(realpath "$0")")
ours=${PORTABORG:-$here/../../target/debug/portaborg}
peer=${BORG_PEER:-$HOME/.cache/borg-peers/borg2}

word= second= skip= to=peer theirs=
for arg in "$@"; do
  if [ -n "$skip" ]; then skip=; continue; fi
  case $arg in
    -r | --repo | --lock-wait | --umask | --debug-topic | --rsh | --socket | --upload-ratelimit) skip=1 ;;
    --repair | --find-lost-archives | --config | --print_config* | --print-config*) theirs=1 ;;
    --other-repo) skip=1 theirs=1 ;;
    --other-repo=* | --from-borg1 | --copy-crypt-key) theirs=1 ;;
    -*) ;;
    *) if [ -z "$word" ]; then word=$arg; elif [ -z "$second" ]; then second=$arg; fi ;;
  esac
done
case $word in
  "" | repo-list | repo-info | list | info | extract | check | version | help | break-lock | key | \
    repo-create | repo-delete | create | delete | undelete | recreate | compact | repo-compress) to=ours ;;
  debug) case $second in get-obj | put-obj) to=ours ;; esac ;;
esac
[ -z "$theirs" ] || to=peer
[ -z "$BORG_PEER_LOG" ] || echo "$to $word $second" >>"$BORG_PEER_LOG"
if [ $to = ours ]; then exec "$ours" "$@"; fi
exec "$peer" "$@"
