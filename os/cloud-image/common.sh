# Shared by the scripts; POSIX sh with dd and od. Images in qcow2 need qemu-img, images from an address need curl or wget.
set -eu

fail() {
  echo "cloud-image: $*" >&2
  exit 1
}

check_image() {
  case ${OSP_IMAGE:-} in
    /* | http://* | https://*) ;;
    '') fail "parameter image is missing: give -O image=FILE, an absolute path on the node or an http address" ;;
    *) fail "parameter image must be an absolute path or an http or https address" ;;
  esac
}

first_disk() {
  [ "${DISK_COUNT:-0}" -ge 1 ] || fail "instance ${INSTANCE_NAME:-} has no disk to install to"
  [ -w "${DISK_0_PATH:-}" ] || fail "disk 0 (${DISK_0_PATH:-no path}) cannot be written"
  echo "$DISK_0_PATH"
}

# Bytes of a file as hexadecimal digits: FILE OFFSET COUNT.
hex() {
  od -An -v -tx1 -j "$2" -N "$3" "$1" | tr -d ' \n'
}

# No more is fetched than the disk holds, and a little for what qcow2 needs. A server that sends next to nothing is given up.
download() {
  ulimit -f $((DISK_0_SIZE * 2048 + 32768))
  if command -v curl >/dev/null; then
    curl --fail --silent --show-error --location --proto =http,https --proto-redir =http,https --speed-limit 20000 --speed-time 60 --output "$2" "$1"
  elif command -v wget >/dev/null; then
    wget --quiet --timeout=60 --tries=3 --output-document="$2" "$1"
  else
    fail "images from an address need curl: apt-get install curl"
  fi
}

# FILE DISK: the whole image to the beginning of the disk.
write_image() {
  [ -f "$1" ] || [ -b "$1" ] || fail "image $1 is no file on this node"
  [ -s "$1" ] || [ -b "$1" ] || fail "image $1 is empty"
  case $(hex "$1" 0 4) in
    514649fb) check_qcow2 "$1" && convert qcow2 "$1" "$2" ;;
    1f8b* | fd377a58 | 28b52ffd | 425a68* | 504b0304) fail "image $1 is compressed: unpack it first" ;;
    *) check_raw "$1" && convert raw "$1" "$2" ;;
  esac
}

# The header of an image from somewhere else may name other files of this node; such a one is refused.
check_qcow2() {
  [ "$(hex "$1" 8 8)" = 0000000000000000 ] || fail "image $1 is only the changes to another image: merge them with qemu-img convert"
  [ "$(hex "$1" 7 1)" = 02 ] || [ $((0x$(hex "$1" 79 1) & 4)) -eq 0 ] || fail "image $1 keeps its data in another file: merge them with qemu-img convert"
  command -v qemu-img >/dev/null || fail "images in qcow2 need qemu-img: apt-get install qemu-utils"
  check_size $((0x$(hex "$1" 24 8)))
}

check_raw() {
  if [ -f "$1" ]; then check_size "$(wc -c <"$1")"; fi
}

check_size() {
  mib=$((($1 + 1048575) / 1048576))
  [ "$mib" -le "$DISK_0_SIZE" ] || fail "the image has $mib MiB, and disk 0 only $DISK_0_SIZE: make it larger (--disk 0:size=${mib}m)"
}

# FORMAT FILE DISK. qemu-img leaves out what is zero, where the disk allows that.
convert() {
  if command -v qemu-img >/dev/null; then
    qemu-img convert -n -f "$1" -O raw "$2" "$3"
  else
    dd if="$2" of="$3" bs=1M conv=notrunc,fsync 2>/dev/null
  fi
}
