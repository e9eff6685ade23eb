#!/bin/bash
# Starts the machines of the QA: start.sh FOLDER REPOSITORY. Process ids are in FOLDER/node*/pid.
set -euo pipefail
folder=$1 repository=$2
here=$(dirname "$(readlink -f "$0")")
net=203.0.113 domain=qa.example
mkdir -p "$folder"
[ -f "$folder/key" ] || ssh-keygen -q -t rsa -b 2048 -N '' -C qa -f "$folder/key"
for type in rsa ecdsa ed25519; do [ -f "$folder/host_$type" ] || ssh-keygen -q -t $type -N '' -f "$folder/host_$type"; done
# All hang on a switch in a network namespace of its own.
ip netns add gantry-qa-switch
ip -n gantry-qa-switch link add switch type bridge
ip -n gantry-qa-switch link set switch up
for n in 1 2 3 4; do
  node=$folder/node$n
  mkdir -p "$node"/{etc,root}/upper/{ssh,.ssh} "$node/etc/upper/ganeti"
  # A key that a new cluster, which makes keys of its own, leaves alone.
  cp "$folder/key" "$node/root/upper/.ssh/first_key"
  printf 'IdentityFile ~/.ssh/first_key\nIdentityFile ~/.ssh/id_rsa\n' > "$node/root/upper/.ssh/config"
  cp "$folder/key.pub" "$node/root/upper/.ssh/authorized_keys"
  for type in rsa ecdsa ed25519; do
    cp "$folder/host_$type" "$node/etc/upper/ssh/ssh_host_${type}_key"
    cp "$folder/host_$type.pub" "$node/etc/upper/ssh/ssh_host_${type}_key.pub"
    printf '* %s\n' "$(cut -d' ' -f1,2 "$folder/host_$type.pub")"
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
  ip netns add "gantry-qa-$n"
  ip link add "gqa$n" netns gantry-qa-switch type veth peer name eth0 netns "gantry-qa-$n"
  ip -n gantry-qa-switch link set "gqa$n" master switch up
  setsid nsenter --net="/run/netns/gantry-qa-$n" unshare -m -u -i -p -f --kill-child=KILL \
    bash "$here/machine.sh" "$node" "node$n.$domain" "$net.$((10 + n))/24" "$repository" \
    < /dev/null > "$node/log" 2>&1 &
  parent=$!
  for _ in $(seq 100); do [ -e "$node/ready" ] && break; sleep 0.1; done
  [ -e "$node/ready" ] || { cat "$node/log"; exit 1; }
  echo $parent > "$node/parent"
  cut -d' ' -f1 "/proc/$parent/task/$parent/children" > "$node/pid"
done
