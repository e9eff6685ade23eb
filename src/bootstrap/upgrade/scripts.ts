// The work on a node: scripts of `sh` over SSH, because no daemon runs meanwhile. Each can run again from its
// beginning.
import { PATH } from '../../model/constants/paths'
import { readRelease, type Release } from '../../model/release'
import { KEPT } from '../adoption/scripts'

const { GANTRY_VERSION_LINK: LINK, GANTRY_VERSIONS_DIR: VERSIONS, DATA_DIR } = PATH

export const directoryOf = (version: string): string => `${VERSIONS}/${version}`

/** The version that a node runs, and facts about another one. */
export interface Look {
  readonly runs: string | undefined
  /** Undefined if that version is not installed. */
  readonly release: Release | undefined
  /** Whether its programs start. */
  readonly starts: boolean
  /** It is a Ganeti that the node ran before Gantry took over. */
  readonly isGaneti: boolean
}

export const lookAt = (version: string): string => `
echo "runs=$(basename "$(readlink ${LINK} 2>/dev/null)")"
echo "release=$(cat ${directoryOf(version)}/release.json 2>/dev/null)"
! ${directoryOf(version)}/bin/gantryd.js --version >/dev/null 2>&1 || echo starts=yes
! ls ${KEPT}/ganeti_${version}*.deb >/dev/null 2>&1 || echo ganeti=kept
`

export function readLook(output: string): Look {
  const lines = output.split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])
  const reported = new Map(lines.map(([key = '', value = '']) => [key, value]))
  return {
    runs: reported.get('runs') || undefined,
    release: readRelease(reported.get('release') ?? ''),
    starts: reported.get('starts') === 'yes',
    isGaneti: reported.get('ganeti') === 'kept',
  }
}

export const STOP = `${PATH.DAEMON_UTIL} stop-all`
export const START = `${PATH.DAEMON_UTIL} start-all`

/** Replaces the link without a moment in which it is missing. */
export const switchTo = (version: string): string => `
set -e
test -e ${directoryOf(version)}/release.json
ln -sfn ${directoryOf(version)} ${LINK}.new
mv -T ${LINK}.new ${LINK}
${PATH.ENSURE_DIRS}`

/** A node without that version keeps its own: two versions understand each other. */
export const switchBackTo = (version: string): string => `
[ ! -e ${directoryOf(version)}/release.json ] || {
${switchTo(version)}
}`

export const QUEUE_STATE = 'gnt-cluster queue info'
export const DRAIN = 'gnt-cluster queue drain'
export const UNDRAIN = 'gnt-cluster queue undrain'
export const REST_WATCHER = 'gnt-cluster watcher pause 1h'
export const WAKE_WATCHER = 'gnt-cluster watcher continue'
export const DISTRIBUTE = 'gnt-cluster redist-conf --yes-do-it'
export const VERIFY = 'gnt-cluster verify'

/** Saves all data of the cluster as plain files, for repairs by hand. Prints the file's name. */
export const BACK_UP = `
set -e
umask 077
gantryd fold >/dev/null
archive=$(dirname ${DATA_DIR})/ganeti$(date +%s).tar
tar -cf "$archive.new" --exclude=ganeti/queue/archive --exclude=ganeti/export -C "$(dirname ${DATA_DIR})" ganeti
mv "$archive.new" "$archive"
echo "$archive"`

/** Whatever journals and candidates know, the configuration is right as it is now. */
export const TAKE_FILE = 'gantryd fold --take-file'
export const CONVERT_UP = `${PATH.CFGUPGRADE} --force`
export const CONVERT_DOWN = `${PATH.CFGUPGRADE} --downgrade --force`
