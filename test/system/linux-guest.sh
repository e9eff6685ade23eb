#!/bin/sh
# Fetches what the test with a real Linux guest needs, without installing anything: Debian's cloud kernel, a few of its modules,
# and a static busybox. Needs apt and dpkg; run again to renew.
set -eu

cd "$(dirname "$0")/../.."
dir=$PWD/.cache/linux-guest
. test/support/debian-kernel.sh

mkdir new/modules
cp tree/boot/vmlinuz-* new/vmlinuz
cp "$busybox" new/busybox
for module in virtio virtio_ring virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk failover net_failover \
  virtio_net virtio_balloon button evdev cdrom isofs; do
  file=$(find tree/lib/modules/ -name "$module.ko")
  if [ -n "$file" ]; then
    cp "$file" new/modules/
  elif ! grep -q "/$module\.ko" tree/lib/modules/*/modules.builtin; then
    echo "$kernel has no module $module: without it, no guest works" >&2
    exit 1
  fi
done
keep_as "$dir"
echo "the Linux guest is in $dir"
