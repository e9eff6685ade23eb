#!/bin/bash
# Makes one machine of machines.ts in the namespaces that run.ts has opened, and runs a command of its user in the project's folder.
# Usage, as root: enter.sh PROJECT SCRATCH COMMAND..., with the properties of the machine in the environment.
set -euo pipefail
project=$1 scratch=$2
shift 2

# Nothing here outlives the namespaces, and nothing of it is seen outside.
mount --make-rprivate /
ip link set lo up
mount -t tmpfs fresh "$scratch"
chmod 755 "$scratch"
# The network devices in /sys are those of the network in which it was mounted.
mkdir "$scratch/cgroup"
mount --rbind /sys/fs/cgroup "$scratch/cgroup"
mount -t sysfs fresh /sys
mount --move "$scratch/cgroup" /sys/fs/cgroup
mkdir "$scratch"/{upper,work,here,bin-upper,bin-work,etc,bin}
# Every user finds this Node, wherever it was unpacked.
touch "$scratch/bin/node"
mount --bind "$NODE" "$scratch/bin/node"
export PATH="$scratch/bin:$PATH"

if [ "$ACCOUNTS" = ganeti ]; then
  added=(gnt-masterd gnt-confd gnt-rapi gnt-metad gnt-luxid gnt-mond gnt-daemons gnt-admin)
else
  added=()
fi
for file in passwd group; do grep -v '^gnt-' "/etc/$file" >"$scratch/etc/$file"; done
id=4800
for name in fresh "${added[@]}"; do
  grep -q "^$name:" /etc/group && [ "$name" = fresh ] && continue
  echo "$name:x:$id:" >>"$scratch/etc/group"
  echo "$name:x:$id:$id::/nonexistent:/bin/sh" >>"$scratch/etc/passwd"
  id=$((id + 1))
done
for file in passwd group; do
  chmod 644 "$scratch/etc/$file"
  mount --bind "$scratch/etc/$file" "/etc/$file"
done

if [ "$QEMU" = hidden ]; then
  mount -t overlay fresh -o "lowerdir=/usr/bin,upperdir=$scratch/bin-upper,workdir=$scratch/bin-work" /usr/bin
  rm -f /usr/bin/qemu-* /usr/bin/kvm
fi

# The project is this one, without what was built or cached in it.
place="$scratch/here/$FOLDER"
mkdir "$place"
mount -t overlay fresh -o "lowerdir=$project,upperdir=$scratch/upper,workdir=$scratch/work" "$place"
rm -rf "$place"/{dist,ui/dist,build,.cache} "$place"/node_modules/.vite*
# Paths of sockets are short, and so is the one of a home.
mkdir "$scratch/homes"
mount --bind "$scratch/homes" /home
home=/home/fresh
mkdir "$home"
[ "$HOME_IS" = here ] || mount -t tmpfs fresh "$home"
# The small one is what some distributions give; the other one is as large as memory allows.
mount -t tmpfs -o "mode=1777,size=$([ "$TMP" = small ] && echo 192m || echo 50%)" fresh /tmp

umask "$UMASK"
export HOME="$home" TMPDIR=/tmp
cd "$place"
case $UMASK in
  0002) find . -path ./node_modules -prune -o ! -type l -exec chmod g+w {} + ;;
  0077) find . -path ./node_modules -prune -o ! -type l -exec chmod go-rwx {} + ;;
esac
[ "$WHO" = ordinary ] || exec "$@"
# Its packages stay root's: nothing writes them.
find . -path './node_modules/*' -prune -o -exec chown -h fresh:fresh {} +
chown fresh:fresh "$home"
cd "$place"
# This shell stays: a process that becomes another user no longer ends with the one that started it.
USER=fresh setpriv --reuid fresh --regid fresh --clear-groups "$@"
