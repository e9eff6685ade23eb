#!/bin/sh
# Makes one of the QA's machines of one with our packages, as an administrator would: machine.sh FOLDER, which has the key of who runs the QA.
set -eu
folder=$1

printf '%s\n' /srv/ganeti/file-storage /srv/ganeti/shared-file-storage > /etc/ganeti/file-storage-paths
# The QA gives its instances an image.
mkdir -p /srv/ganeti/os
cp -r /usr/lib/gantry/os/gantry-tiny /srv/ganeti/os/qa-tiny
echo 'os-image where the system comes from' >> /srv/ganeti/os/qa-tiny/parameters.list

mkdir -p -m 700 /root/.ssh
cp "$folder/key.pub" /root/.ssh/authorized_keys
# The QA also tries DSA keys, which OpenSSH accepts only where it is told to.
for program in ssh sshd; do
  echo 'PubkeyAcceptedAlgorithms +ssh-dss' > /etc/ssh/${program}_config.d/qa.conf
done
systemctl reload ssh
