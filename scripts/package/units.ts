// The units of systemd, made from the table of roles. Names, places and dependencies are Ganeti's.
import { UNIT, onceFile, unitOf } from '../../src/bootstrap/system-units'
import { nodeFlags } from '../../src/lib/programs/node-flags'
import { GROUP, USER } from '../../src/model/constants/daemons'
import { PATH } from '../../src/model/constants/paths'
import { CHILD_BACKOFF_MIN_S, DAEMON_STOP_S, UNITS_S } from '../../src/model/limits/daemons'
import { MASTER_RETRY_S } from '../../src/model/limits/master'
import { WATCHER_EVERY_S } from '../../src/model/limits/watcher'
import { isDaemonOfNode, type Place, type Role } from '../../src/roles/role'
import { ROLES } from '../../src/roles/table'
import { CLEANERS, type PackagedName, SANDBOX } from './sandbox'

/** The directory of the version that a node runs. */
export const HOME = `${PATH.GANTRY_VERSIONS_DIR}/current`
export const NODE = '/usr/bin/node'
const COMMON = 'ganeti-common.service'
/** The name that scripts use: "service ganeti restart". */
const SERVICE = 'ganeti.service'
/** A daemon without a sign of life for this many seconds is restarted. */
const WATCHDOG_S = 120

type Section = readonly (readonly [key: string, value: string | number])[]
type Unit = Readonly<Record<string, Section>>

type PackagedRole = Role & { readonly name: PackagedName }

export const packagedRoles: readonly PackagedRole[] = ROLES.filter(isDaemonOfNode)

const isPackaged = (role: string): boolean => packagedRoles.some(({ name }) => name === role)

/** The texts by file name. */
export function unitFiles(): Record<string, string> {
  const daemons = packagedRoles.map((role) => [unitOf(role.program), daemon(role)] as const)
  const all: Record<string, Unit> = { ...Object.fromEntries(daemons), ...targets(), ...others() }
  return Object.fromEntries(Object.entries(all).map(([name, unit]) => [name, written(unit)]))
}

const written = (unit: Unit): string =>
  `# Made by "npm run package" of Gantry. What is to be otherwise goes to a drop-in: systemctl edit UNIT\n` +
  Object.entries(unit)
    .map(([section, lines]) => `[${section}]\n${lines.map(([key, value]) => `${key}=${value}\n`).join('')}`)
    .join('\n')

function daemon(role: PackagedRole): Unit {
  const { name, program, text, place, after = [], frugal } = role
  const target = place === 'master' ? UNIT.master : UNIT.node
  const line = [NODE, ...nodeFlags(frugal, []), `${HOME}/bin/gantryd.js`, name, '--foreground']
  return {
    Unit: [
      ['Description', `Ganeti ${name} (Gantry): ${text}`],
      ['Documentation', `man:${program}(8)`],
      ['Requires', COMMON],
      [
        'After',
        [COMMON, 'network-online.target', ...after.filter(isPackaged).map((other) => `ganeti-${other}.service`)].join(
          ' ',
        ),
      ],
      ['Wants', 'network-online.target'],
      ['PartOf', target],
      ['ConditionPathExists', PATH.NODED_CERT_FILE],
      // A node that was away asks for votes until it has them, so restarts are not limited.
      ['StartLimitIntervalSec', 0],
    ],
    Service: [
      ['Type', 'notify'],
      // systemd-notify, a program of its own, sends the daemon's messages.
      ['NotifyAccess', 'all'],
      ['User', role.user],
      ['Group', role.group],
      ...conditions(role).map((condition) => ['ExecCondition', condition] as const),
      ['EnvironmentFile', '-/etc/default/ganeti'],
      ['EnvironmentFile', `-${onceFile(PATH.DATA_DIR, program)}`],
      ['ExecStart', [...line, `$${argumentsOf(name)}`, `$EXTRA_${argumentsOf(name)}`, '$ONETIME_ARGS'].join(' ')],
      ['ExecReload', '/bin/kill -HUP $MAINPID'],
      ['Restart', 'always'],
      ['RestartSec', place === 'master' ? MASTER_RETRY_S / 10 : CHILD_BACKOFF_MIN_S],
      ['TimeoutStartSec', UNITS_S],
      ['TimeoutStopSec', DAEMON_STOP_S],
      ['WatchdogSec', WATCHDOG_S],
      ['LimitNOFILE', 65536],
      ['SyslogIdentifier', program],
      ...SANDBOX[name],
    ],
    ...(place !== 'demand' && { Install: [['WantedBy', target]] }),
  }
}

/** The variable of /etc/default/ganeti. */
export const argumentsOf = (role: string): string => `${role.toUpperCase()}_ARGS`

/** A daemon runs only on nodes whose ssconf files contain a line. Without the file it does not run. */
function conditions({ place, lines = {} }: Role): string[] {
  const lists: Partial<Record<Place, string>> = { candidate: 'master_candidates', master: 'master_node' }
  const list = lists[place]
  const desired = [...(list === undefined ? [] : [[list, '%H'] as const]), ...Object.entries(lines)]
  return desired.map(([file, line]) => `/usr/bin/grep -qsxF -e ${line} ${PATH.DATA_DIR}/ssconf_${file}`)
}

function targets(): Record<string, Unit> {
  const target = (description: string, part: string, wantedBy: string, wants?: string): Unit => ({
    Unit: [
      ['Description', description],
      ['Documentation', 'man:gantryd(8)'],
      ['PartOf', part],
      ...(wants === undefined ? [] : ([['Wants', wants]] as const)),
    ],
    Install: [['WantedBy', wantedBy]],
  })
  return {
    [UNIT.all]: target('Ganeti (Gantry): virtual machines of a cluster', SERVICE, 'multi-user.target', SERVICE),
    [UNIT.node]: target('Ganeti (Gantry): daemons of every node', UNIT.all, UNIT.all),
    [UNIT.master]: target('Ganeti (Gantry): daemons of the master', UNIT.all, UNIT.all),
  }
}

/** The units that are not daemons. */
function others(): Record<string, Unit> {
  const oneshot = (description: string, lines: Section, what: Section = []): Unit => ({
    Unit: [
      ['Description', description],
      // Each restarting daemon needs this unit first. With a limit on its starts, several daemons that were killed at once would not come
      // back.
      ['StartLimitIntervalSec', 0],
      ...what,
    ],
    Service: [['Type', 'oneshot'], ...lines],
  })
  const timer = (description: string, lines: Section): Unit => ({
    Unit: [
      ['Description', description],
      ['PartOf', UNIT.node],
    ],
    Timer: lines,
    Install: [['WantedBy', UNIT.node]],
  })
  const member: Section = [['ConditionPathExists', PATH.NODED_CERT_FILE]]
  const isMaster = conditions({ place: 'master' } as Role)
  return {
    [SERVICE]: {
      Unit: [
        ['Description', 'Ganeti (Gantry): all of it, for the words of init scripts'],
        ['Documentation', 'man:gantryd(8)'],
        // Each of the two units starts, stops and restarts the other. Starting the service waits for the daemons.
        ['Wants', UNIT.all],
        ['PartOf', UNIT.all],
        ['After', Object.values(UNIT).join(' ')],
        ['StartLimitIntervalSec', 0],
      ],
      Service: [
        ['Type', 'oneshot'],
        ['RemainAfterExit', 'yes'],
        ['ExecStart', '/usr/bin/true'],
        // Guests that Debian's Ganeti has started are in the control group of a service with this name, that of its init script.
        ['KillMode', 'process'],
      ],
    },
    [COMMON]: oneshot(
      'Ganeti (Gantry): directories, owners and modes',
      [['ExecStart', PATH.ENSURE_DIRS]],
      [['Documentation', 'man:gantryd(8)']],
    ),
    // Runs only when the machine starts, as Ganeti's crontab does it. A person who interrupts an upgrade knows about it.
    'ganeti-upgrade.service': {
      Unit: [
        ['Description', 'Ganeti (Gantry): an upgrade of the cluster that was cut off goes on'],
        ['Documentation', 'man:gnt-cluster(8)'],
        ['ConditionPathExists', PATH.INTENT_TO_UPGRADE],
        ['Wants', 'network-online.target'],
        ['After', `network-online.target ssh.service ${SERVICE}`],
        ['StartLimitIntervalSec', 0],
      ],
      Service: [
        // Nothing waits for its end, because it stops and starts the daemons.
        ['Type', 'exec'],
        ['ExecStart', '/usr/sbin/gnt-cluster upgrade --resume'],
      ],
      Install: [['WantedBy', 'multi-user.target']],
    },
    'ganeti-watcher.service': oneshot(
      'Ganeti (Gantry): the watcher starts what should run and does not',
      [
        ['EnvironmentFile', '-/etc/default/ganeti'],
        ['ExecStart', `/usr/sbin/ganeti-watcher --spare $WATCHER_ARGS`],
        // The watcher may start guests that have no scope of their own, and hooks may leave processes behind.
        ['KillMode', 'process'],
      ],
      [...member, ['Documentation', 'man:ganeti-watcher(8)'], ['After', 'ganeti-noded.service']],
    ),
    'ganeti-watcher.timer': timer('Ganeti (Gantry): when the watcher runs', [
      ['OnActiveSec', 15],
      ['OnUnitInactiveSec', WATCHER_EVERY_S],
      ['AccuracySec', 5],
    ]),
    'ganeti-watcher.path': {
      Unit: [
        ['Description', 'Ganeti (Gantry): the master calls for the watcher'],
        ['PartOf', UNIT.node],
      ],
      Path: [['PathModified', PATH.WATCHER_CALL]],
      Install: [['WantedBy', UNIT.node]],
    },
    'ganeti-cleaner.service': oneshot(
      'Ganeti (Gantry): old files of this node go',
      [['ExecStart', '/usr/sbin/ganeti-cleaner node'], ...CLEANERS.node],
      [...member, ['Documentation', 'man:ganeti-cleaner(8)']],
    ),
    'ganeti-master-cleaner.service': oneshot(
      'Ganeti (Gantry): old jobs of the master go',
      [
        ['User', USER.masterd],
        ['Group', GROUP.daemons],
        ...isMaster.map((condition) => ['ExecCondition', condition] as const),
        ['ExecStart', '/usr/sbin/ganeti-cleaner master'],
        ...CLEANERS.master,
      ],
      [...member, ['Documentation', 'man:ganeti-cleaner(8)']],
    ),
    ...Object.fromEntries(
      ['ganeti-cleaner', 'ganeti-master-cleaner'].map((name) => [
        `${name}.timer`,
        timer(`Ganeti (Gantry): when ${name} runs`, [
          ['OnCalendar', '*-*-* 02:00'],
          ['RandomizedDelaySec', 3600],
          ['Persistent', 'true'],
        ]),
      ]),
    ),
  }
}
