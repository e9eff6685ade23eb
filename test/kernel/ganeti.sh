#!/bin/sh
# Fetches the whole of Ganeti, its daemons too, as Debian has it, without installing it: only machines of test/kernel that are to run it
# see it. What it needs of Python is in .ci/run. Needs apt, dpkg and Python; run again to renew.
set -eu

cd "$(dirname "$0")/../.."
version=$(sh test/support/ganeti-version.sh)
dir=$PWD/.cache/ganeti
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"

apt-get -q download ganeti "ganeti-$version" "ganeti-haskell-$version" ganeti-os-noop
for package in *.deb; do dpkg-deb -x "$package" tree; done
rm -rf tree/usr/share/doc tree/usr/share/man tree/usr/share/bug tree/usr/share/lintian
# A guest would compile for minutes, and could not keep what it has compiled.
python3 -m compileall -q "tree/usr/share/ganeti/$version" > /dev/null || true
mkdir -p "$(dirname "$dir")"
rm -rf "$dir"
mv tree/usr "$dir"
echo "Ganeti is in $dir"
