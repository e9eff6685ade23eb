#!/bin/sh
# Fetches Ganeti's own command line programs, its confd, its mon-collector, its QA and the tests of its programs of allocation, as Debian has
# them, without installing them: the packages would start services of their own. What the programs need of Python is in .ci/run, what confd
# needs comes with ganeti-htools-3.1 or -3.0. Needs apt and dpkg; run again to renew.
set -eu

cd "$(dirname "$0")/../.."
version=$(sh test/support/ganeti-version.sh)
dir=$PWD/.cache/ganeti-programs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"

apt-get -q download "ganeti-$version" "ganeti-haskell-$version" ganeti-testsuite
for package in *.deb; do dpkg-deb -x "$package" tree; done
mkdir -p "$(dirname "$dir")"
rm -rf "$dir"
mv "tree/usr/share/ganeti/$version" "$dir"
mv "tree/usr/lib/ganeti/$version/usr/sbin/ganeti-confd" "$dir"
mv "tree/usr/lib/ganeti/$version/usr/lib/ganeti/mon-collector" "$dir"
mv tree/usr/share/ganeti/testsuite/qa "$dir"
mkdir "$dir/test"
mv tree/usr/share/ganeti/testsuite/test/hs tree/usr/share/ganeti/testsuite/test/data "$dir/test"
echo "Ganeti's programs are in $dir"
