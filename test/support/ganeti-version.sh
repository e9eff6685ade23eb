#!/bin/sh
# Prints the version of Ganeti in the names of the packages that this Debian has: 3.1 of ganeti-3.1, or 3.0 of ganeti-3.0.
set -eu

for version in 3.1 3.0; do
  if apt-cache policy "ganeti-$version" | grep -q '^ *Candidate: [0-9]'; then
    echo "$version"
    exit
  fi
done
echo 'apt knows neither ganeti-3.1 nor ganeti-3.0; try: apt-get update' >&2
exit 1
