# Unpacks Debian's cloud kernel and a static busybox to "tree", in a temporary folder that becomes the current one, without installing
# anything. For scripts that put what tests need of them into "new", and end with `keep_as FOLDER`. Needs apt and dpkg.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"

kernel=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p' | head -n 1)
[ -n "$kernel" ] || { echo "apt knows no linux-image-cloud-amd64; try: apt-get update" >&2; exit 1; }
apt-get -q download "$kernel" busybox-static
for package in *.deb; do dpkg-deb -x "$package" tree; done
busybox=$(find tree -type f -path '*bin/busybox' | head -n 1)
mkdir new

# Newer kernels have packed modules, which busybox cannot load, and have them in /usr/lib.
[ -e tree/lib/modules ] || ln -s usr/lib tree/lib
find tree/lib/modules/ -name '*.ko.xz' -exec "$busybox" unxz {} +

keep_as() {
  mkdir -p "$(dirname "$1")"
  rm -rf "$1"
  mv new "$1"
}
