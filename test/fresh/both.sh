#!/bin/bash
# Both commands of README.md on this machine, and a line for each that run.ts reads. The arguments are the second one.
try() {
  local name=$1 code=0
  shift
  SECONDS=0
  "$@" || code=$?
  echo "outcome of $name: $code after $SECONDS s"
}
try 'npm start' bash test/fresh/tour.sh
try 'npm test' "$@"
