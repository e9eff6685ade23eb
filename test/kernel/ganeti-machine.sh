# Sourced by the first process of a machine that is to run a real Ganeti.

# become_ganeti FOLDER: what test/kernel/ganeti.sh fetched is shown below /usr, and what Debian's packages do when they are installed is done.
become_ganeti() {
  cp -a "$1/sbin/." /usr/sbin
  for folder in lib share; do
    mkdir -p "/usr/$folder/ganeti"
    mount --bind "$1/$folder/ganeti" "/usr/$folder/ganeti"
  done
  mkdir -p /etc/ganeti /etc/default /var/lib/ganeti /var/log/ganeti /run/ganeti
  version=$(cd /usr/share/ganeti && echo 3.*)
  ln -sfn "/usr/lib/ganeti/$version" /etc/ganeti/lib
  ln -sfn "/usr/share/ganeti/$version" /etc/ganeti/share
  echo 'NODED_ARGS="--no-mlock"' > /etc/default/ganeti
  for group in admin confd daemons luxid masterd metad rapi; do groupadd -f -r "gnt-$group"; done
  # A daemon has only those groups of its user in which /etc/group lists it.
  for user in confd:gnt-daemons masterd:gnt-admin,gnt-confd,gnt-daemons,gnt-masterd metad:gnt-daemons rapi:gnt-admin,gnt-daemons; do
    id "gnt-${user%%:*}" > /dev/null 2>&1 ||
      useradd -r -M -d /var/lib/ganeti -s /usr/sbin/nologin -g "gnt-${user%%:*}" -G "${user#*:}" "gnt-${user%%:*}"
  done
}

# leave_ganeti: ends its daemons, and what was below it is there again.
leave_ganeti() {
  /usr/lib/ganeti/daemon-util stop-all
  umount -l /usr/lib/ganeti /usr/share/ganeti
}
