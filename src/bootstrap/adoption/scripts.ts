// The work on a node: scripts of `sh` that only use what every Debian system has, and what Ganeti and Gantry have both. Each can be
// run again from its beginning, whatever an earlier run has left. They write to a log of the node, so they also come to their end when
// nobody listens any more.
import { PATH } from '../../model/constants/paths'

/** What an adoption needs on each node. It stays there: it is the way back. */
export const PLACE = '/var/lib/gantry-adopt'
/** Packages of ours that are to be installed, and the one of Ganeti that was. */
export const GIVEN = `${PLACE}/gantry`
export const KEPT = `${PLACE}/ganeti`
export const LOG = `${PLACE}/log`
/** Where apt leaves packages that it has installed. */
export const GANETI_PACKAGES = '/var/cache/apt/archives'

const DPKG = 'dpkg --force-confold'
const CRON = 'etc/cron.d/ganeti'
/** Arguments of daemons. */
export const DEFAULTS = '/etc/default/ganeti'
const MARK = 'kept as it was when Gantry took over'

/** The begin of all that change something. */
const begin = (what: string) => `
set -e
trap '' HUP
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
mkdir -p -m 700 ${PLACE}
exec >>${LOG} 2>&1
echo "== $(date -u +%Y-%m-%dT%H:%M:%SZ) ${what}"
`

export const MAKE_ROOM = `mkdir -p -m 700 ${GIVEN} ${KEPT} && rm -f ${GIVEN}/*.deb`

/** The version of Ganeti that is there must be to be had again, without a network. */
export const KEEP_GANETI = `${begin('the package of Ganeti is kept')}
cd ${KEPT}
if [ "$(dpkg-query -W -f '\${db:Status-Status}' ganeti 2>/dev/null)" = installed ]; then
  version=$(dpkg-query -W -f '\${Version}' ganeti)
  if ! ls ganeti_*"\${version##*:}"_*.deb; then
    rm -f ./*.deb
    cp ${GANETI_PACKAGES}/ganeti_*"\${version##*:}"_*.deb . ||
      apt-get -qq -o APT::Sandbox::User=root download "ganeti=$version"
  fi
fi
ls ./ganeti_*.deb`

/** Says what apt would do, as `Remv NAME` and `Inst NAME`: dpkg, which does it, would not say it beforehand. */
export const REHEARSE = `
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
plan=$(apt-get -qq --no-install-recommends --allow-downgrades --simulate install ${GIVEN}/*.deb 2>&1) ||
  { printf '%s\\n' "$plan"; exit 1; }
printf '%s\\n' "$plan" | sed -n 's/^\\(Remv\\|Inst\\) \\([^ ]*\\).*/\\1 \\2/p'`

/**
 * daemon-util is of the product that is installed; a machine that Debian's script of Ganeti has started remembers that. Debian's
 * start-stop-daemon refuses files of other users that an ended daemon has left.
 */
const STOP = `
alive() { pid=$(cat "$1" 2>/dev/null) && [ -n "$pid" ] && grep -qs ganeti- "/proc/$pid/cmdline"; }
[ ! -x ${PATH.DAEMON_UTIL} ] || ${PATH.DAEMON_UTIL} stop-all || true
[ ! -d /run/systemd/system ] || systemctl stop ganeti.service 2>/dev/null || true
for second in $(seq 60); do
  left=
  for file in ${PATH.RUN_DIR}/ganeti-*.pid; do ! alive "$file" || left="$left $file"; done
  [ -n "$left" ] || break
  sleep 1
done
[ -z "$left" ] || { echo "daemons do not stop:$left"; exit 1; }
rm -f ${PATH.RUN_DIR}/ganeti-*.pid`

/** The packages' own scripts start daemons, where the system has not forbidden that. */
const START = `
[ ! -d /run/systemd/system ] || systemctl daemon-reload
alive ${PATH.RUN_DIR}/ganeti-noded.pid || ${PATH.DAEMON_UTIL} start-all
echo "== done"`

/** No job is accepted any more; whether somebody else had said so before is remembered. */
export const HOLD_JOBS = `
set -e
[ -e ${PATH.JOB_QUEUE_DRAIN_FILE} ] || : > ${PLACE}/drained
gnt-cluster queue drain`

export const RELEASE_JOBS = `
set -e
if [ -e ${PLACE}/drained ]; then gnt-cluster queue undrain; rm ${PLACE}/drained; fi`

/** The ids of jobs that have not ended. */
export const OPEN_JOBS = `gnt-job list --no-headers -o id,status | awk '$2 !~ /^(success|error|canceled)$/ { print $1 }'`

export const MASTER_ANSWERS = 'gnt-job list --no-headers -o id >/dev/null && gnt-cluster getmaster'

/** Copies of candidates are those of the master. */
export const DISTRIBUTE = 'gnt-cluster redist-conf'

/** The last lines of what was done last. */
export const LAST_LINES = (count: number): string =>
  `tr '\\r' '\\n' < ${LOG} | awk '/^== /{ text = "" } !/^\\(Reading database/{ text = text $0 "\\n" } END { printf "%s", text }' | tail -n ${count}`

/**
 * Ganeti's timetable would start our watcher beside our own timer. dpkg would replace the arguments of daemons where nobody has changed
 * them: the remote API, which Debian's Ganeti has on this machine's own address alone, would be open to all.
 */
export const TO_GANTRY = `${begin('from Ganeti to Gantry')}
${STOP}
if [ -e /${CRON} ]; then mv /${CRON} ${PLACE}/cron; fi
if [ -e ${DEFAULTS} ] && ! grep -q '${MARK}' ${DEFAULTS}; then echo '# ${MARK}' >> ${DEFAULTS}; fi
${DPKG} --install ${GIVEN}/*.deb
${START}`

/** What a master leaves in journals goes to the files that Ganeti reads. */
export const toGaneti = (isMaster: boolean): string => `${begin('from Gantry to Ganeti')}
${STOP}
${isMaster ? `if [ -x /usr/sbin/gantryd ]; then /usr/sbin/gantryd fold; fi` : ''}
${DPKG} --force-depends --remove gantry gantry-htools $(dpkg-query -W -f '\${Package} ' 'gantry-[0-9]*' 2>/dev/null)
${DPKG} --install ${KEPT}/*.deb
if [ -e ${PLACE}/cron ]; then mv ${PLACE}/cron /${CRON}; fi
${START}`
