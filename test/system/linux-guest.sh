#!/bin/sh
# Fetches what the test with a real Linux guest needs, without installing anything: Debian's cloud kernel, a few of its modules,
# and a static busybox. Needs apt and dpkg; run again to renew.
set -eu

cd "$(dirname "$0")/../.."
dir=$PWD/.cache/linux-guest
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"

kernel=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p' | head -n 1)
[ -n "$kernel" ] || { echo "apt knows no linux-image-cloud-amd64; try: apt-get update" >&2; exit 1; }
apt-get -q download "$kernel" busybox-static
for package in *.deb; do dpkg-deb -x "$package" tree; done

mkdir -p new/modules
cp tree/boot/vmlinuz-* new/vmlinuz
cp "$(find tree -type f -path '*bin/busybox' | head -n 1)" new/busybox
for module in virtio virtio_ring virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk failover net_failover \
  virtio_net virtio_balloon button evdev cdrom isofs; do
  find tree -name "$module.ko" -exec cp {} new/modules/ \;
done
mkdir -p "$(dirname "$dir")"
rm -rf "$dir"
mv new "$dir"
echo "the Linux guest is in $dir"
