// A small Linux guest made from what linux-guest.sh fetched: Debian's cloud kernel and an initial file system with busybox.
import * as fs from 'node:fs'
import * as path from 'node:path'

const DIRECTORY = path.resolve(__dirname, '../../.cache/linux-guest')
/** What an earlier linux-guest.sh fetched lacks modules. The last one that it copies stands for all. */
export const linuxGuestPresent = ['vmlinuz', 'modules/isofs.ko'].every((file) =>
  fs.existsSync(path.join(DIRECTORY, file)),
)
export const linuxGuestSkipped =
  'skipped, the Linux guest is not here, or lacks modules; fetch it with: sh test/system/linux-guest.sh'
/** What the guest says when it has booted; kernels of Debian 12 are called `6.1.0-50-cloud-amd64`, those of 13 `6.12.117+deb13-cloud-amd64`. */
export const LINUX_GUEST_READY = /READY \d+\.\d+\.\d+\S*-cloud-amd64/
export const linuxKernel = path.join(DIRECTORY, 'vmlinuz')
/** It is static, so it runs everywhere. */
export const busybox = path.join(DIRECTORY, 'busybox')

const INIT = `#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /bin /var/run /var/log /tmp
/bin/busybox --install -s /bin
export PATH=/bin
mount -t devtmpfs dev /dev; mount -t proc proc /proc; mount -t sysfs sys /sys
# Without a list of dependencies: what fails for want of another module is tried again after it.
for round in 1 2 3 4; do for module in /modules/*.ko; do insmod $module 2>/dev/null; done; done
for word in $(cat /proc/cmdline); do
  case $word in guest-address=*) ip link set eth0 up; ip address add "\${word#guest-address=}" dev eth0 ;; esac
done
acpid -f -c /etc/acpi -l /dev/null &
stty -F /dev/ttyS0 -echo
echo READY $(uname -r)
exec setsid sh -c 'PS1= exec sh </dev/ttyS0 >/dev/ttyS0 2>&1'
`
/** Does with a NoCloud seed what cloud-init does first, for texts as the node writes them, and tells what came of it. */
const READ_SEED = `#!/bin/busybox sh
mkdir -p /seed
# This busybox cannot look for labels.
for disk in /dev/vd?; do
  [ "$(dd if=$disk bs=1 skip=32808 count=6 2>/dev/null)" = cidata ] && mount -t iso9660 -o ro $disk /seed
done
value() { sed -n 's/^ *"'$1'": "\\([^"]*\\)".*/\\1/p' /seed/$2; }
hostname $(value local-hostname meta-data)
mac=$(value macaddress network-config)
device=$(basename $(dirname $(grep -l $mac /sys/class/net/*/address)))
ip link set $device up
ip address add $(sed -n 's/^ *"\\([0-9.]*\\/[0-9]*\\)"$/\\1/p' /seed/network-config) dev $device
ip route add default via $(value gateway4 network-config)
echo "INSTANCE $(value instance-id meta-data)"
echo "HOST $(hostname)"
echo "KEY $(sed -n 's/^ *"\\(ssh-.*\\)"$/\\1/p' /seed/meta-data)"
echo "ADDRESS $(ip -4 -o address show dev $device | tr -s ' ')"
echo "ROUTE $(ip route | head -n 1)"
head -n 1 /seed/user-data
umount /seed
`
const POWER_BUTTON = '#!/bin/busybox sh\necho POWEROFF > /dev/ttyS0\npoweroff -f\n'

/** Writes the initial file system. The kernel's argument `guest-address=ADDRESS/BITS` is for the first NIC. */
export function writeInitrd(file: string): void {
  const modules = fs.readdirSync(path.join(DIRECTORY, 'modules'))
  const entries: Buffer[] = [
    ...['bin', 'modules', 'dev', 'etc', 'etc/acpi', 'etc/acpi/PWRF'].map((name) => entry(name, 0o040755)),
    entry('init', 0o100755, Buffer.from(INIT)),
    entry('bin/read-seed', 0o100755, Buffer.from(READ_SEED)),
    entry('bin/busybox', 0o100755, fs.readFileSync(busybox)),
    entry('etc/acpi/PWRF/00000080', 0o100755, Buffer.from(POWER_BUTTON)),
    ...modules.map((name) =>
      entry(`modules/${name}`, 0o100644, fs.readFileSync(path.join(DIRECTORY, 'modules', name))),
    ),
    entry('TRAILER!!!', 0),
  ]
  fs.writeFileSync(file, Buffer.concat(entries))
}

let inode = 1

/** One member of a cpio archive in the `newc` format, the kernel's own. */
function entry(name: string, mode: number, data = Buffer.alloc(0)): Buffer {
  const nameLength = Buffer.byteLength(name) + 1
  const numbers = [inode++, mode, 0, 0, 1, 0, data.length, 0, 0, 0, 0, nameLength, 0]
  const header = '070701' + numbers.map((number) => number.toString(16).padStart(8, '0')).join('')
  return Buffer.concat([padded(Buffer.from(`${header}${name}\0`)), padded(data)])
}

const padded = (data: Buffer): Buffer => Buffer.concat([data, Buffer.alloc((4 - (data.length % 4)) % 4)])
