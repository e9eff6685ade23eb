#!/bin/bash
# Ends the machines of the QA, with all that runs in them: stop.sh FOLDER
folder=$1
for n in 1 2 3 4; do
  [ -f "$folder/node$n/pid" ] && kill -KILL "$(cat "$folder/node$n/pid")" 2>/dev/null
  ip netns del "gantry-qa-$n" 2>/dev/null
done
ip netns del gantry-qa-switch 2>/dev/null
exit 0
