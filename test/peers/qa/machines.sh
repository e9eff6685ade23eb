#!/bin/bash
# Process 1 of the QA: makes four machines and runs a command on the first of them.
#   machines.sh REPOSITORY COMMAND...
# Must have mount, network and process namespaces of its own: what is made here then ends with it, however it ends. What the machines
# write is in memory.
set -euo pipefail
repository=$1; shift
here=$(dirname "$(readlink -f "$0")")
net=203.0.113 domain=qa.example folder=/mnt
mount -t tmpfs -o mode=755 tmpfs $folder
ssh-keygen -q -t rsa -b 2048 -N '' -C qa -f $folder/key
for type in rsa ecdsa ed25519; do ssh-keygen -q -t $type -N '' -f $folder/host_$type; done
# All hang on a switch.
ip link add switch type bridge
ip link set switch up
for n in 1 2 3 4; do
  node=$folder/node$n
  mkdir -p "$node"/{etc,root}/upper/{ssh,.ssh} "$node/etc/upper/ganeti"
  # A key that a new cluster, which makes keys of its own, leaves alone.
  cp $folder/key "$node/root/upper/.ssh/first_key"
  # What this machine's own shells do at their start is not for those of the QA: it takes time, and may wait for locks.
  : > "$node/root/upper/.bashrc"
  : > "$node/root/upper/.profile"
  printf 'IdentityFile ~/.ssh/first_key\nIdentityFile ~/.ssh/id_rsa\n' > "$node/root/upper/.ssh/config"
  cp $folder/key.pub "$node/root/upper/.ssh/authorized_keys"
  for type in rsa ecdsa ed25519; do
    cp $folder/host_$type "$node/etc/upper/ssh/ssh_host_${type}_key"
    cp $folder/host_$type.pub "$node/etc/upper/ssh/ssh_host_${type}_key.pub"
    printf '* %s\n' "$(cut -d' ' -f1,2 $folder/host_$type.pub)"
  done > "$node/root/upper/.ssh/known_hosts"
  chmod 700 "$node/root/upper" "$node/root/upper/.ssh"
  chmod 600 "$node/root/upper/.ssh/"*
  {
    echo 127.0.0.1 localhost
    echo "$net.1 cluster.$domain cluster"
    echo "$net.2 renamed.$domain renamed"
    for i in 1 2 3 4; do echo "$net.$((10 + i)) node$i.$domain node$i"; done
    for i in $(seq 1 20); do echo "$net.$((100 + i)) inst$i.$domain inst$i"; done
  } > "$node/etc/upper/hosts"
  : > "$node/etc/upper/resolv.conf"
  echo "node$n.$domain" > "$node/etc/upper/hostname"
  # Its shell waits for its network card, which can be given only to one that is there.
  unshare -m -u -i -n -p -f --kill-child=KILL \
    bash "$here/machine.sh" "$node" "node$n.$domain" "$net.$((10 + n))/24" "$repository" < /dev/null 3>&- &
  parent=$!
  until child=$(cat "/proc/$parent/task/$parent/children") && [ -n "$child" ]; do sleep 0.01; done
  echo "${child% }" > "$node/pid"
  ip link add "gqa$n" type veth peer name eth0 netns "${child% }"
  ip link set "gqa$n" master switch up
done
for n in 1 2 3 4; do
  for _ in $(seq 600); do [ -e $folder/node$n/ready ] && break; sleep 0.1; done
  [ -e $folder/node$n/ready ] || { echo "node$n does not start"; exit 1; }
done
nsenter -t "$(cat $folder/node1/pid)" -m -u -i -n -p -r -w/ -- \
  /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 USER=root LOGNAME=root TERM=dumb "$@"
