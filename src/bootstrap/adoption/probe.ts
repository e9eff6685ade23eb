// A node's facts, whichever product runs there: a script that only reads, and the parsing of its output.
import { OS_SEARCH_PATH, PATH } from '../../model/constants/paths'
import { conffilesProbe } from './conffiles'
import { DEFAULTS, GANETI_PACKAGES, KEPT } from './scripts'

export interface NodeFacts {
  readonly systemd: boolean
  /** As the machine calls itself. */
  readonly hostname: string | undefined
  /** Status and version of each package, such as `installed 3.0.2-3`; missing packages are omitted. */
  readonly packages: ReadonlyMap<string, string>
  /** The version of /usr/bin/node. */
  readonly node: string | undefined
  readonly room_mib: number
  /** Names of running daemons. */
  readonly daemons: readonly string[]
  /** Processes of KVM guests by the names of their instances. */
  readonly guests: ReadonlyMap<string, number>
  /** Arguments of daemons by the names of their variables, such as RAPI_ARGS, as a shell reads them; without those that are empty. */
  readonly arguments: ReadonlyMap<string, string>
  /** The texts of these variables as they are written, not yet read by a shell. */
  readonly written: ReadonlyMap<string, string>
  /** From where Ganeti's package can be had again: this node, an archive. */
  readonly wayBack: string | undefined
  readonly programs: ReadonlyMap<string, string>
  readonly volumeGroups: readonly string[]
  readonly bridges: readonly string[]
  /** Directories below which disks may be files. */
  readonly storagePaths: readonly string[]
  /** OS definitions whose scripts are to run in helper machines. */
  readonly distrusted: readonly string[]
  /** Scripts below /etc that can be executed: `packaged` or `own`, and the files of Ganeti's package that they name. */
  readonly scripts: ReadonlyMap<string, string>
}

/** Packages whose state is read. */
const ASKED = ['ganeti', 'gantry', 'gantry-htools', 'nodejs']

export const SAY = `say() { [ -z "$2" ] || printf '%s=%s\\n' "$1" "$2"; }`

/** Whatever is written for a shell is read by one. */
export const argumentsProbe = (file: string): string => `
for name in $(sed -n 's/^ *\\(export  *\\)\\{0,1\\}\\([A-Z_]*_ARGS\\)=.*/\\2/p' ${file} 2>/dev/null | sort -u); do
  say "arguments.$name" "$( (. ${file}; eval "printf %s \\"\\$$name\\"") 2>/dev/null | tr '\\n' ' ')"
  say "written.$name" "$(sed -n "s/^ *$name=//p" ${file} | tail -n 1)"
done`

export const PROBE = `
${SAY}
alive() { pid=$(cat "$1" 2>/dev/null) && [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; }
[ ! -d /run/systemd/system ] || say systemd yes
for name in ${ASKED.join(' ')}; do
  say "package.$name" "$(dpkg-query -W -f '\${db:Status-Status} \${Version}' "$name" 2>/dev/null)"
done
say hostname "$(uname -n)"
say node "$(/usr/bin/node --version 2>/dev/null)"
say room_kib "$(df -Pk /usr | awk 'NR == 2 { print $4 }')"
say program.qemu "$(qemu-system-x86_64 --version 2>/dev/null | head -n 1)"
say program.lvm "$(lvs --version 2>/dev/null | awk '/LVM version/ { print $3 }')"
say program.drbd "$(sed -n '1s/^version: \\([^ ]*\\).*/\\1/p' /proc/drbd 2>/dev/null)"
for file in ${PATH.RUN_DIR}/ganeti-*.pid; do
  name=\${file##*/ganeti-}
  ! alive "$file" || say "daemon.\${name%.pid}" "$pid"
done
for file in ${PATH.RUN_DIR}/kvm-hypervisor/pid/*; do
  ! alive "$file" || say "guest.\${file##*/}" "$pid"
done
${argumentsProbe(DEFAULTS)}
${conffilesProbe()}
for name in $(vgs --noheadings -o vg_name 2>/dev/null); do say "volume_group.$name" yes; done
for place in /sys/class/net/*/bridge; do
  place=\${place%/bridge}
  [ ! -e "$place/bridge" ] || say "bridge.\${place##*/}" yes
done
sed -n 's,^ *\\(/[^ ]*[^ /]\\)/* *$,storage_path.\\1=yes,p' ${PATH.FILE_STORAGE_PATHS_FILE} 2>/dev/null
for place in ${OS_SEARCH_PATH.map((folder) => `${folder}/*`).join(' ')}; do
  [ ! -e "$place/create_untrusted" ] || [ -e "$place/create" ] || say "distrusted.\${place##*/}" yes
done
version=$(dpkg-query -W -f '\${Version}' ganeti 2>/dev/null)
if ls ${KEPT}/ganeti_*.deb >/dev/null 2>&1; then say way_back here
elif ls ${GANETI_PACKAGES}/ganeti_*"\${version##*:}"_*.deb >/dev/null 2>&1; then say way_back here
elif apt-get -qq --print-uris download "ganeti=$version" >/dev/null 2>&1; then say way_back archive
fi
exit 0
`

export function readFacts(output: string): NodeFacts {
  const lines = output.split('\n').flatMap((line) => {
    const at = line.indexOf('=')
    return at > 0 ? [[line.slice(0, at), line.slice(at + 1).trim()] as const] : []
  })
  const all = new Map(lines)
  const below = (prefix: string) =>
    new Map(
      lines.flatMap(([key, value]) =>
        key.startsWith(`${prefix}.`) && value !== '' ? [[key.slice(prefix.length + 1), value] as const] : [],
      ),
    )
  return {
    systemd: all.get('systemd') === 'yes',
    hostname: all.get('hostname'),
    packages: below('package'),
    node: all.get('node'),
    room_mib: Math.floor(Number(all.get('room_kib') ?? 0) / 1024),
    daemons: [...below('daemon').keys()],
    guests: new Map([...below('guest')].map(([name, pid]) => [name, Number(pid)])),
    arguments: below('arguments'),
    written: below('written'),
    wayBack: all.get('way_back'),
    programs: below('program'),
    volumeGroups: [...below('volume_group').keys()],
    bridges: [...below('bridge').keys()],
    storagePaths: [...below('storage_path').keys()],
    distrusted: [...below('distrusted').keys()],
    scripts: below('script'),
  }
}

/** The product whose programs are on the node. Undefined if it is half installed or half removed. */
export function productOf({ packages }: NodeFacts): 'ganeti' | 'gantry' | undefined {
  const isInstalled = (name: string) => packages.get(name)?.startsWith('installed ') === true
  if (isInstalled('gantry') && isInstalled('gantry-htools')) return 'gantry'
  return isInstalled('ganeti') ? 'ganeti' : undefined
}

export const versionOf = ({ packages }: NodeFacts, name: string): string | undefined =>
  packages.get(name)?.split(' ')[1]
