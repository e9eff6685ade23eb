#!/bin/sh
# Makes one of the QA's machines of one with our packages or Ganeti's, as an administrator would: machine.sh FOLDER.
# FOLDER has the key of who runs the QA, and an operating system for its instances.
set -eu
folder=$1

printf '%s\n' /srv/ganeti/file-storage /srv/ganeti/shared-file-storage > /etc/ganeti/file-storage-paths
# The QA gives its instances an image.
mkdir -p /srv/ganeti/os
tar -C /srv/ganeti/os -xf "$folder/os.tar"
mv /srv/ganeti/os/gantry-tiny /srv/ganeti/os/qa-tiny
echo 'os-image where the system comes from' >> /srv/ganeti/os/qa-tiny/parameters.list

# Debian's Ganeti has its remote API on this machine's own address, and the QA asks it from outside.
if [ ! -e /usr/sbin/gantryd ]; then sed -i 's/^RAPI_ARGS=.*/RAPI_ARGS="--require-authentication"/' /etc/default/ganeti; fi

mkdir -p -m 700 /root/.ssh
cp "$folder/key.pub" /root/.ssh/authorized_keys
# The QA also tries DSA keys, which OpenSSH accepts only where it is told to, and starts ssh without its configuration.
mv /usr/bin/ssh /usr/bin/ssh.real
printf '#!/bin/sh\nexec /usr/bin/ssh.real -oPubkeyAcceptedAlgorithms=+ssh-dss "$@"\n' > /usr/bin/ssh
chmod 755 /usr/bin/ssh
echo 'PubkeyAcceptedAlgorithms +ssh-dss' > /etc/ssh/sshd_config.d/qa.conf
systemctl reload ssh
