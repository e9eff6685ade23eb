#!/bin/sh
# Makes the root file systems of the machines of `npm run test:machines` and `npm run test:qa`: Debian with systemd, an SSH server, what
# Gantry's package and Ganeti's QA want, but without Gantry; and the same with Debian's Ganeti, whose package lies where apt finds it
# without a network. Needs root and mmdebstrap; run again to renew.
set -eu

cd "$(dirname "$0")/../.."
dir=$PWD/.cache/machines
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
packages=systemd,systemd-sysv,dbus,openssh-server,openssh-client,iproute2,iputils-ping,iputils-arping,procps
packages=$packages,qemu-system-x86,qemu-utils,openssl,logrotate,bash-completion,libstdc++6,fping

make_root() {
  name=$1 include=$2
  shift 2
  # Documents and translations are left out: they are half of what there is to unpack.
  mmdebstrap --quiet --variant=minbase --include="$include" --skip=check/qemu \
    --aptopt='Acquire::Retries "3"' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-include=/usr/share/man/man[18]/g*' \
    --customize-hook='rm -f "$1"/etc/ssh/ssh_host_* "$1"/etc/dpkg/dpkg.cfg.d/99mmdebstrap' \
    --customize-hook='systemctl --quiet --root="$1" mask systemd-networkd.service systemd-resolved.service systemd-timesyncd.service apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer fstrim.timer man-db.timer' \
    "$@" bookworm "$work/$name"
  mkdir -p "$dir"
  rm -rf "${dir:?}/$name"
  mv "$work/$name" "$dir/$name"
  echo "a root file system of machines is in $dir/$name"
}

make_root root "$packages"
make_root ganeti "$packages,ganeti,ganeti-os-noop" --skip=cleanup/apt/cache \
  --customize-hook='rm -f "$1"/var/cache/apt/archives/*.deb' \
  --customize-hook='cd "$1/var/cache/apt/archives" && apt-get -qq -o APT::Sandbox::User=root download ganeti'
