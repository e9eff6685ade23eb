#!/bin/bash
# `npm start` on this machine, and the commands of README.md, word for word.
set -uo pipefail
log=$HOME/start.log
: >"$log"
npm start >>"$log" 2>&1 &
start=$!
finish() {
  kill -INT "$start" 2>/dev/null
  for _ in $(seq 3000); do
    kill -0 "$start" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL "$start" 2>/dev/null
}
fail() {
  echo "npm start: $1"
  cat "$log"
  finish
  exit 1
}
# How long it takes depends on what else the machine does; the limit is only there to end one that hangs.
for _ in $(seq 6000); do
  grep -q '^ready: ' "$log" && break
  kill -0 "$start" 2>/dev/null || fail 'it ended before it was ready'
  sleep 0.1
done
grep -q '^ready: ' "$log" || fail 'it was not ready after ten minutes'
# The lines after `$` of its first example, and the block of its tour.
commands=$(awk '
  /^```/ { inside = !inside; tour = 0; next }
  inside && /^\$ / && !/npm start/ { print substr($0, 3) }
  inside && /^export PATH=/ { tour = 1 }
  inside && tour
' README.md)
[ "$(grep -c '^gnt ' <<<"$commands")" -ge 20 ] || fail "README.md has no tour: $commands"
export PATH="$PWD/bin:$PATH"
# Presses a key in a command that runs until then, again and again, since a slow machine may not be there yet. The exit code says how the
# nodes are, or that Ctrl-C came early.
until_key() {
  { for _ in $(seq 19); do sleep 6; printf "$1" 2>/dev/null || break; done; } |
    timeout 120 script -qec "$2" /dev/null >>"$log" 2>&1
  case ${PIPESTATUS[1]} in
    0 | 1 | 130) ;;
    *) fail "$2 did not end" ;;
  esac
}
while IFS= read -r line; do
  echo "== $line" >>"$log"
  case $line in
    export*) eval "$line" ;;
    *Ctrl-]*) until_key '\035' "$line" ;;
    *Ctrl-C*) until_key '\003' "$line" ;;
    curl*) command -v curl >/dev/null || continue ;;&
    *) timeout 300 bash -c "$line" </dev/null >>"$log" 2>&1 || fail "$line ended with $?" ;;
  esac
done <<<"$commands"
# What this machine lacks, in the words of the start.
grep -E 'hypervisor:|cannot run|Warning' "$log" | sed 's/^/    /'
finish
grep -q '^stopped; ' "$log" || fail 'it did not stop'
