# Shared by the scripts; POSIX sh, nothing but dd, printf and tr.
set -eu

# Where tiny.S keeps the banner, and how long it may be there.
BANNER_AT=416
BANNER_MAX=23

fail() {
  echo "gantry-tiny: $*" >&2
  exit 1
}

# The value may be a secret, so it is not told.
check_banner() {
  [ "${#1}" -le "$BANNER_MAX" ] || fail "parameter banner is longer than $BANNER_MAX characters"
  case $1 in
    *[!A-Za-z0-9\ .,:_-]*) fail "parameter banner may have letters, digits, spaces and .,:_- only" ;;
  esac
}

first_disk() {
  [ "${DISK_COUNT:-0}" -ge 1 ] || fail "instance ${INSTANCE_NAME:-} has no disk to boot from"
  [ -w "${DISK_0_PATH:-}" ] || fail "disk 0 (${DISK_0_PATH:-no path}) cannot be written"
  echo "$DISK_0_PATH"
}
