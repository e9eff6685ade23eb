#!/bin/bash
# Process 1 of one of the machines on which Ganeti's QA runs, in mount, network, host name and process namespaces of its own.
#   machine.sh FOLDER NAME ADDRESS/BITS REPOSITORY
# FOLDER holds what the machine writes, REPOSITORY our programs.
set -euo pipefail
folder=$1 name=$2 address=$3 repository=$4
hostname "$name"
mount -t proc proc /proc
mount -t sysfs sysfs /sys
for directory in etc root home var usr srv tmp; do
  mkdir -p "$folder/$directory/upper" "$folder/$directory/work"
  mount -t overlay overlay -o "lowerdir=/$directory,upperdir=$folder/$directory/upper,workdir=$folder/$directory/work" "/$directory"
done
chmod 1777 /tmp
mount -t tmpfs tmpfs /run
mkdir -p /run/lock /run/sshd
ln -sfn /run /var/run

# Ours, under Ganeti's names, and nothing of a Ganeti that may be installed here.
rm -rf /usr/sbin/gnt-* /usr/sbin/ganeti-* /usr/lib/ganeti /usr/share/ganeti
mkdir -p /usr/lib/ganeti/tools
for program in allocation backup debug filter group instance job network node os storage; do
  ln -sfn "$repository/bin/gnt.js" "/usr/sbin/gnt-$program"
done
for program in harep hbal hcheck hinfo hroller hscan hspace hsqueeze hail mon-collector; do
  ln -sfn "$repository/bin/$program.js" "/usr/bin/$program"
done
for program in ganeti-node ganeti-noded ganeti-kvmd ganeti-confd ganeti-luxid ganeti-wconfd ganeti-rapi; do ln -sfn "$repository/bin/gantryd.js" "/usr/sbin/$program"; done
for program in ssh-update prepare-node-join node-daemon-setup; do ln -sfn "$repository/bin/gantryd.js" "/usr/lib/ganeti/$program"; done
rm -rf /var/lib/ganeti /var/log/ganeti
mkdir -p /srv/ganeti/os /srv/ganeti/file-storage /srv/ganeti/shared-file-storage
mkdir -p "$folder/../shared"
mount --bind "$folder/../shared" /srv/ganeti/shared-file-storage
# The QA gives its instances an image.
cp -r "$repository/os/gantry-tiny" /srv/ganeti/os/qa-tiny
echo 'os-image where the system comes from' >> /srv/ganeti/os/qa-tiny/parameters.list
mkdir -p /etc/ganeti
printf '/srv/ganeti/file-storage\n/srv/ganeti/shared-file-storage\n' > /etc/ganeti/file-storage-paths
# Starts the daemons when the cluster is created, as an init system does.
cat > /usr/sbin/gnt-cluster << INIT
#!/bin/sh
$repository/bin/gnt.js cluster "\$@" || exit
[ "\$1" != init ] || exec /etc/init.d/ganeti start
INIT
chmod 755 /usr/sbin/gnt-cluster
cat > /etc/init.d/ganeti << 'INIT'
#!/bin/sh
pid=$(cat /run/ganeti/ganeti-node.pid 2>/dev/null)
if [ -n "$pid" ]; then
  kill "$pid"
  while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
fi
[ "$1" = stop ] && exit
ganeti-node </dev/null >/dev/null 2>&1 &
until [ -S /run/ganeti/socket/ganeti-query ]; do sleep 0.1; done
sleep 1
INIT
chmod 755 /etc/init.d/ganeti

# The QA also tries DSA keys, which OpenSSH accepts only where it is told to.
mv /usr/bin/ssh /usr/bin/ssh.real
printf '#!/bin/sh\nexec /usr/bin/ssh.real -oPubkeyAcceptedAlgorithms=+ssh-dss "$@"\n' > /usr/bin/ssh
chmod 755 /usr/bin/ssh

until ip link show eth0 > /dev/null 2>&1; do sleep 0.05; done
ip link set lo up
ip link add xen-br0 type bridge
ip link set eth0 master xen-br0
ip link set eth0 up
ip link set xen-br0 up
ip addr add "$address" dev xen-br0
/usr/sbin/sshd -o UsePAM=no -o PermitRootLogin=yes -o StrictModes=no -o PubkeyAcceptedAlgorithms=+ssh-dss -o MaxStartups=100 -o UseDNS=no
touch "$folder/ready"
trap 'exit 0' TERM INT
# Whatever loses its parent is buried here.
while :; do sleep 3600 & wait $!; done
