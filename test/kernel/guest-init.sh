#!/bin/bash
# The first process of a guest. Its root is this machine's, with a layer of its own on /dev/vda that survives a loss of power;
# /dev/vdb is the volume group, /dev/vdc is for tests that need another one. What it is told stands in a file that the kernel's command line names.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM=dumb USER=root
for word in $(cat /proc/cmdline); do
  case $word in settings=*) . "${word#settings=}" ;; esac
done
mount -t tmpfs -o mode=755 run /run
mkdir -p /run/lock /run/sshd /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs shm /dev/shm
mkdir -p "/lib/modules/$(uname -r)"
mount --bind "$MODULES" "/lib/modules/$(uname -r)"
date -s "@$NOW" > /dev/null
. "${0%/*}/ganeti-machine.sh"

if ! [ -e /etc/guest-node ]; then
  # What root's shell reads at every login may start programs.
  rm -rf /var/lib/ganeti /var/log/ganeti /etc/ganeti /etc/ssh /root/.ssh /root/.bashrc /root/.profile /usr/lib/ganeti
  mkdir -p /etc/ganeti /etc/ssh /root/.ssh /usr/lib/ganeti /srv/ganeti/file-storage /etc/lvm
  echo /srv/ganeti/file-storage > /etc/ganeti/file-storage-paths
  for program in ssh-update prepare-node-join node-daemon-setup; do ln -s "$PROGRAMS/gantryd.js" "/usr/lib/ganeti/$program"; done
  cp "$HOSTS" /etc/hosts
  sed -i 's/^hosts:.*/hosts: files/' /etc/nsswitch.conf
  : > /etc/resolv.conf
  # One key for all: a guest takes long to make one.
  install -m 600 "$KEY" /etc/ssh/ssh_host_ecdsa_key
  cp "$KEY.pub" /etc/ssh/ssh_host_ecdsa_key.pub
  printf 'HostKey /etc/ssh/ssh_host_ecdsa_key\nUsePAM no\nUseDNS no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n' > /etc/ssh/sshd_config
  chmod 700 /root /root/.ssh
  cp "$KEY.pub" /root/.ssh/authorized_keys
  install -m 600 "$KEY" /root/.ssh/id_ecdsa
  # There is no udev in a guest.
  cat > /etc/lvm/lvm.conf <<'LVM'
devices { global_filter = [ "a|^/dev/vd[b-z]|", "r|.*|" ] use_devicesfile = 0 scan_lvs = 0 obtain_device_list_from_udev = 0 }
activation { udev_sync = 0 udev_rules = 0 monitoring = 0 }
global { use_lvmpolld = 0 }
LVM
  echo "$NAME" > /etc/guest-node
fi
if [ -n "$GANETI" ]; then
  become_ganeti "$GANETI"
  # Both nodes of an instance must have its system.
  ln -sfn "${PROGRAMS%/*}/os" /srv/ganeti/os
fi
hostname "$NAME"
ip link set lo up
ip addr add "$ADDRESS/24" dev eth0
ip link set eth0 up
modprobe dm-mod
modprobe drbd minor_count=128 usermode_helper=/bin/true
modprobe -a md5 sha1_generic crc32c 2> /dev/null
pvs /dev/vdb > /dev/null 2>&1 || { pvcreate -q /dev/vdb; vgcreate -q xenvg /dev/vdb; }
vgchange -q -ay xenvg
/usr/sbin/sshd
if [ -e /var/lib/ganeti/server.pem ]; then
  if [ -n "$GANETI" ]; then /usr/lib/ganeti/daemon-util start ganeti-noded
  else setsid "$PROGRAMS/gantryd.js" node < /dev/null > /var/log/ganeti/start.log 2>&1 &
  fi
fi
# It is in the background before it listens.
until (exec 3<> /dev/tcp/127.0.0.1/22) 2> /dev/null; do sleep 0.1; done
echo "READY $NAME"
while :; do sleep 3600 & wait $!; done
