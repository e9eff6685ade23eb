#!/bin/bash
# Runs a command in a machine: inside.sh FOLDER/nodeN COMMAND...
pid=$(cat "$1/pid"); shift
exec nsenter -t "$pid" -m -u -i -n -p -r -w/ -- /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 USER=root LOGNAME=root TERM=dumb "$@"
