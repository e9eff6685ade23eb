#!/bin/bash
# The first process of the master, which is no guest: it has namespaces of its own, and only guests have disks.
#   master-init.sh FOLDER NAME REPOSITORY
# FOLDER holds what it writes.
set -euo pipefail
folder=$1 name=$2 repository=$3
hostname "$name"
mount -t proc proc /proc
hosts=$(cat "$folder/hosts") key=$(cat "$folder/key")
# What is mounted below may hide the folder.
exec 3> "$folder/master-ready"
mount -t tmpfs -o mode=755 own /mnt
for directory in etc root var usr srv; do
  mkdir -p "/mnt/$directory/upper" "/mnt/$directory/work"
  mount -t overlay overlay -o "lowerdir=/$directory,upperdir=/mnt/$directory/upper,workdir=/mnt/$directory/work" "/$directory"
done
mount -t tmpfs -o mode=755 run /run
ln -sfn /run /var/run
mkdir -p /run/lock /run/sshd
rm -rf /var/lib/ganeti /var/log/ganeti /etc/ganeti /etc/ssh /root/.ssh /root/.bashrc /root/.profile /usr/lib/ganeti
mkdir -p /etc/ganeti /etc/ssh /root/.ssh /usr/lib/ganeti /srv/ganeti/file-storage
echo /srv/ganeti/file-storage > /etc/ganeti/file-storage-paths
for program in ssh-update prepare-node-join node-daemon-setup; do ln -s "$repository/bin/gantryd.js" "/usr/lib/ganeti/$program"; done
echo "$hosts" > /etc/hosts
: > /etc/resolv.conf
ssh-keygen -q -t ecdsa -N '' -f /etc/ssh/ssh_host_ecdsa_key
chmod 700 /root /root/.ssh
# One key for all: the cluster leaves SSH alone, because each program of it that a guest starts takes long there.
(umask 077 && echo "$key" > /root/.ssh/id_ecdsa)
printf 'UsePAM no\nUseDNS no\nHostKey /etc/ssh/ssh_host_ecdsa_key\n' > /etc/ssh/sshd_config
/usr/sbin/sshd
echo ready >&3
while :; do sleep 3600 & wait $!; done
