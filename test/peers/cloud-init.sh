#!/bin/sh
# Fetches cloud-init and what it needs of Python, and isoinfo, as Debian has them, without installing them: cloud-init would configure this
# machine when it boots next. Needs apt and dpkg; run again to renew.
set -eu

cd "$(dirname "$0")/../.."
dir=$PWD/.cache/cloud-init
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"

modules=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances cloud-init |
  grep -E '^python3-' | grep -vE '^python3-(minimal|pkg-resources|dev|distutils|lib2to3)$' | sort -u)
# shellcheck disable=SC2086 # one word for each module
apt-get -q download cloud-init genisoimage $modules
for package in *.deb; do dpkg-deb -x "$package" tree; done
mkdir -p "$(dirname "$dir")" new
mv tree/usr/lib/python3/dist-packages new/python
mv tree/usr/bin/cloud-init tree/usr/bin/isoinfo new/
rm -rf "$dir"
mv new "$dir"
echo "cloud-init is in $dir"
