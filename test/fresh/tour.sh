#!/bin/bash
# `npm start` on this machine, and the first steps of README.md's tour.
set -uo pipefail
log=$HOME/start.log
npm start >"$log" 2>&1 &
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
export PATH="$PWD/bin:$PATH"
step() {
  timeout 300 "$@" >>"$log" 2>&1 || fail "$* ended with $?"
}
step gnt node list
step gnt instance add -t sharedfile --disk 0:size=128m -o gantry-tiny -B memory=64m -n node1 vm1
step gnt instance migrate -f -n node2 vm1
step gnt instance failover -f -n node3 vm1
step gnt instance add -t drbd --disk 0:size=64m -o gantry-tiny -B memory=64m -n node2:node3 vm2
step gnt cluster modify --instance-communication-network comm
step gnt instance modify --communication yes vm1
step gnt instance reboot vm1
step gnt cluster verify
step gnt instance remove -f vm1
# What this machine lacks, in the words of the start.
grep -E 'hypervisor:|cannot run|Warning' "$log" | sed 's/^/    /'
finish
grep -q '^stopped; ' "$log" || fail 'it did not stop'
