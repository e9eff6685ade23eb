// The work on a node: scripts of `sh` that only use what every Debian system has, and what Ganeti and Gantry have in
// common. Each can run again from its beginning, whatever an earlier run has left. They write to a log on the node, so
// they finish even when nobody listens any more.
import { PATH } from '../../model/constants/paths'
import { setAside, takeBack } from './conffiles'

/** The files of an adoption on each node. They stay there for the way back. */
const PLACE = '/var/lib/gantry-adopt'
/** Our packages to install, and Ganeti's package that was installed. */
export const GIVEN = `${PLACE}/gantry`
export const KEPT = `${PLACE}/ganeti`
export const LOG = `${PLACE}/log`
/** Where apt keeps packages that it has installed. */
export const GANETI_PACKAGES = '/var/cache/apt/archives'

const DPKG = 'dpkg --force-confold'
const CRON = 'etc/cron.d/ganeti'
const ASIDE = `${PLACE}/conffiles`
/** Arguments of daemons. */
export const DEFAULTS = '/etc/default/ganeti'
const MARK = 'kept as it was when Gantry took over'

/** The beginning of all scripts that change something. */
const begin = (what: string) => `
set -e
trap '' HUP
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
mkdir -p -m 700 ${PLACE}
exec >>${LOG} 2>&1
echo "== $(date -u +%Y-%m-%dT%H:%M:%SZ) ${what}"
`

export const MAKE_ROOM = `mkdir -p -m 700 ${GIVEN} ${KEPT} && rm -f ${GIVEN}/*.deb`

/** The installed version of Ganeti must be available again without a network. */
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

/** Prints what apt would do, as `Remv NAME` and `Inst NAME`. dpkg, which does the work, has no rehearsal. */
export const REHEARSE = `
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
plan=$(apt-get -qq --no-install-recommends --allow-downgrades --simulate install ${GIVEN}/*.deb 2>&1) ||
  { printf '%s\\n' "$plan"; exit 1; }
printf '%s\\n' "$plan" | sed -n 's/^\\(Remv\\|Inst\\) \\([^ ]*\\).*/\\1 \\2/p'`

/**
 * daemon-util belongs to the installed product. A machine started by Debian's script of Ganeti remembers that. Debian's
 * start-stop-daemon refuses other users' files of ended daemons.
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

/** The packages' own scripts start daemons, unless the system forbids it. */
const START = `
[ ! -d /run/systemd/system ] || systemctl daemon-reload
alive ${PATH.RUN_DIR}/ganeti-noded.pid || ${PATH.DAEMON_UTIL} start-all
echo "== done"`

/** Stops the acceptance of jobs, and remembers if somebody else had stopped it before. */
export const HOLD_JOBS = `
set -e
[ -e ${PATH.JOB_QUEUE_DRAIN_FILE} ] || : > ${PLACE}/drained
gnt-cluster queue drain`

export const RELEASE_JOBS = `
set -e
if [ -e ${PLACE}/drained ]; then gnt-cluster queue undrain; rm ${PLACE}/drained; fi`

/** The ids of unfinished jobs. */
export const OPEN_JOBS = `gnt-job list --no-headers -o id,status | awk '$2 !~ /^(success|error|canceled)$/ { print $1 }'`

export const MASTER_ANSWERS = 'gnt-job list --no-headers -o id >/dev/null && gnt-cluster getmaster'

/** Copies the master's files to the candidates. */
export const DISTRIBUTE = 'gnt-cluster redist-conf'

/** The last lines of the log. */
export const LAST_LINES = (count: number): string =>
  `tr '\\r' '\\n' < ${LOG} | awk '/^== /{ text = "" } !/^\\(Reading database/{ text = text $0 "\\n" } END { printf "%s", text }' | tail -n ${count}`

/**
 * Ganeti's timetable would start our watcher in addition to our own timer. dpkg would replace unchanged arguments of
 * daemons, and so open the remote API to all; Debian's Ganeti has it only on this machine's own address.
 */
export const TO_GANTRY = `${begin('from Ganeti to Gantry')}
${STOP}
if [ -e /${CRON} ]; then mv /${CRON} ${PLACE}/cron; fi
${setAside(ASIDE)}
if [ -e ${DEFAULTS} ] && ! grep -q '${MARK}' ${DEFAULTS}; then echo '# ${MARK}' >> ${DEFAULTS}; fi
${DPKG} --install ${GIVEN}/*.deb
${START}`

/** The master's journals are written to the files that Ganeti reads. */
export const toGaneti = (isMaster: boolean): string => `${begin('from Gantry to Ganeti')}
${STOP}
${isMaster ? `if [ -x /usr/sbin/gantryd ]; then /usr/sbin/gantryd fold; fi` : ''}
${DPKG} --force-depends --remove gantry gantry-htools $(dpkg-query -W -f '\${Package} ' 'gantry-[0-9]*' 2>/dev/null)
${takeBack(ASIDE)}
${DPKG} --install ${KEPT}/*.deb
if [ -e ${PLACE}/cron ]; then mv ${PLACE}/cron /${CRON}; fi
${START}`
