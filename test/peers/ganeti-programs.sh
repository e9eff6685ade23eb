#!/bin/sh
# Fetches Ganeti's own command line programs, as Debian has them, without installing them: the package would start services of its
# own. What they need of Python is in .ci/run. Needs apt and dpkg; run again to renew.
set -eu

cd "$(dirname "$0")/../.."
dir=$PWD/.cache/ganeti-programs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"

apt-get -q download ganeti-3.0
dpkg-deb -x ganeti-3.0_*.deb tree
mkdir -p "$(dirname "$dir")"
rm -rf "$dir"
mv tree/usr/share/ganeti/3.0 "$dir"
echo "Ganeti's programs are in $dir"
