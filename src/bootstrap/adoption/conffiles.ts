// Files below /etc that outlive the package of Ganeti: conffiles that do harm without it, and the administrator's
// scripts for NICs. What each means for a node is told before anything changes.
import type { ConfigData } from '../../model/config'
import { PATH } from '../../model/constants/paths'
import type { Findings } from './features'

/** Its helper goes with the package, and then it refuses every reboot. */
const MOLLY_GUARD = '/etc/molly-guard/run.d/15-ganeti'

/**
 * Without the package's other files, Debian's script for communication NICs does nothing and says nothing, and takes
 * the place of what we do.
 */
const HARMFUL: readonly string[] = [PATH.COMMUNICATION_SCRIPT, MOLLY_GUARD]

const ASKED: readonly string[] = [PATH.NIC_SCRIPT, ...HARMFUL]

/** Tells whether a file of the package is as the package brought it. dpkg knows that also after the package's removal. */
const UNCHANGED = `unchanged() {
  sum=$(md5sum < "$2$1") && dpkg-query -W -f '\${Conffiles}\\n' ganeti 2>/dev/null | grep -qF " $1 \${sum%% *}"
}`

/** Says which of these files a node has, whose they are, and which files of the package they name. */
export const conffilesProbe = (root = ''): string => `
${UNCHANGED}
for file in ${ASKED.join(' ')}; do
  [ -x "${root}$file" ] || continue
  whose=own
  ! unchanged "$file" "${root}" || whose=packaged
  say "script.$file" "$whose $(sed 's/^ *#.*//' "${root}$file" | grep -o '/usr/\\(lib\\|share\\)/ganeti/[A-Za-z0-9._/-]*' | sort -u | tr '\\n' ' ')"
done`

/** Changed files stay: they are the administrator's. */
export const setAside = (place: string, root = ''): string => `
${UNCHANGED}
mkdir -p ${place}
for file in ${HARMFUL.join(' ')}; do
  [ ! -e "${root}$file" ] || ! unchanged "$file" "${root}" || mv "${root}$file" "${place}/\${file##*/}"
done`

/** A file that somebody has made meanwhile stays. */
export const takeBack = (place: string, root = ''): string => `
for file in ${HARMFUL.join(' ')}; do
  [ ! -e "${place}/\${file##*/}" ] || [ -e "${root}$file" ] || mv "${place}/\${file##*/}" "${root}$file"
done`

/** `scripts`: what `conffilesProbe` has said, by file. */
export function scriptsThatStay(scripts: ReadonlyMap<string, string>, { cluster }: ConfigData): Findings {
  const found = ASKED.flatMap((file) => {
    const [whose, ...gone] = (scripts.get(file) ?? '').split(' ').filter(Boolean)
    return whose === undefined ? [] : [{ file, isOurs: whose === 'packaged', gone }]
  })
  const communicates = cluster.instance_communication_network !== ''
  const problems: string[] = []
  const notes: string[] = []
  for (const { file, isOurs, gone } of found) {
    const breaks = `${file} uses ${gone.join(', ')}, which the package ganeti takes away with it`
    const wayOut = 'copy that to a place of your own, and let the script use the copy'
    if (file === MOLLY_GUARD) {
      if (!isOurs) notes.push(`${file} is not Debian's any more, so it stays: see that it lets the machine reboot without Ganeti, or remove it`) // prettier-ignore
    } else if (isOurs) {
      if (communicates) notes.push(`${file} is put aside, since it needs Ganeti: Gantry sets communication NICs up itself, without a DHCP server`) // prettier-ignore
    } else if (gone.length === 0) notes.push(`${file} stays in use`)
    else if (file === PATH.COMMUNICATION_SCRIPT) {
      const all = `${breaks}: ${wayOut}, or remove the script, and Gantry sets communication NICs up itself`
      if (communicates) problems.push(all)
      else notes.push(all)
    } else problems.push(`${breaks}: ${wayOut}`)
  }
  return { problems, notes }
}
