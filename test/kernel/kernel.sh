#!/bin/sh
# Fetches what guests with a real kernel need, without installing anything: Debian's cloud kernel with all of its modules, and a first
# file system that takes this machine's own root over virtiofs. Needs apt, dpkg, kmod and cpio; run again to renew.
set -eu

cd "$(dirname "$0")/../.."
dir=$PWD/.cache/kernel
. test/support/debian-kernel.sh

version=$(basename tree/boot/vmlinuz-*)
version=${version#vmlinuz-}
depmod -b tree "$version"

mkdir -p first/bin first/modules first/proc first/sys first/dev first/host first/own first/root
cp "$busybox" first/bin/busybox
for module in virtio_pci virtiofs overlay virtio_blk virtio_net ext4; do
  modprobe -d tree -S "$version" --show-depends "$module" | sed -n 's/^insmod //p'
done | awk '!seen[$1]++ { print $1 }' > modules
while read -r module; do
  cp "$module" first/modules/
  basename "$module" >> first/modules/order
done < modules
cat > first/init <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
while read -r module; do insmod "/modules/$module"; done < /modules/order
mount -t virtiofs -o ro host /host
mount -t ext4 /dev/vda /own
mkdir -p /own/upper /own/work
mount -t overlay root -o lowerdir=/host,upperdir=/own/upper,workdir=/own/work /root
for folder in dev proc sys; do mount --move "/$folder" "/root/$folder"; done
for word in $(cat /root/proc/cmdline); do
  case $word in guest-init=*) exec switch_root /root "${word#guest-init=}" ;; esac
done
INIT
chmod +x first/init
(cd first && find . | cpio -o -H newc --quiet) | gzip -1 > initrd.gz

mv initrd.gz new/
cp "tree/boot/vmlinuz-$version" new/vmlinuz
mv "tree/lib/modules/$version" new/modules
keep_as "$dir"
echo "the kernel $version is in $dir"
