// daemon-util: Ganeti's command for scripts to start, stop and check a node's daemons. Where systemd runs the machine,
// it gives systemd the orders. Elsewhere it starts daemons itself, with start-stop-daemon, under their accounts and
// with the arguments of /etc/default/ganeti.
import { systemUnits, type SystemUnits } from '../bootstrap/system-units'
import { isFor, isMaster } from '../daemons/supervisor/place'
import type { Disk } from '../lib/disk'
import { type Machine, thisMachine } from '../lib/machine'
import type { Paths } from '../lib/paths'
import { EXIT } from '../model/constants/daemons'
import { ARGUMENTS_S, DAEMON_STOP_S, UNITS_S } from '../model/limits/daemons'
import { ownedDisk } from '../model/owners'
import type { DaemonAction } from '../roles/helpers'
import { inOrder, isDaemonOfNode, type Role } from '../roles/role'
import { ROLES } from '../roles/table'
import { reloadSshDaemon } from '../bootstrap/node-programs'
import { ensureDirectories } from './ensure-dirs'

const DEFAULTS = '/etc/default/ganeti'
const SBIN = '/usr/sbin'
const daemons: readonly Role[] = inOrder(ROLES).filter(isDaemonOfNode)
/** Roles on demand are not started together with the others. */
const started = daemons.filter(({ place }) => place !== 'demand')

/** The result for the caller: lines to print, and an exit code. */
interface Answer {
  readonly lines?: readonly string[]
  readonly problem?: string
  readonly code?: number
}

/** The node whose daemons these are. */
interface Here extends Machine {
  readonly paths: Paths
  readonly disk: Disk
}

interface Given {
  readonly here: Here
  readonly args: readonly string[]
}

const OK: Answer = {}
const failed = (problem: string): Answer => ({ problem, code: EXIT.failure })

/** The actions, by the words that Ganeti's scripts use. */
const actions: Readonly<Record<DaemonAction, (input: Given) => Answer | Promise<Answer>>> = {
  'check-config': ({ here: { paths, files } }) =>
    files.existsSync(paths.serverCert) ? OK : failed(`Missing configuration file ${paths.serverCert}`),
  'check-exitcode': ({ args: [code] }) => exitCode(code),
  'daemon-pidfile': ({ here, args }) => named(args, (role) => ({ lines: [here.paths.pidFile(role.name)] })),
  'daemon-executable': ({ args }) => named(args, ({ program }) => ({ lines: [`${SBIN}/${program}`] })),
  'is-daemon-name': ({ args }) => named(args, () => OK),
  'list-start-daemons': () => ({ lines: started.map(({ program }) => program) }),
  'list-stop-daemons': () => ({ lines: daemons.map(({ program }) => program).toReversed() }),
  check: ({ here, args }) => named(args, async (role) => ((await isRunning(role, here)) ? OK : { code: EXIT.failure })),
  start: ({ here, args }) => named(args, (role, once) => start(role, once, here)),
  stop: ({ here, args }) => named(args, (role) => stop(role, here)),
  'check-and-start': ({ here, args }) =>
    named(args, async (role, once) => ((await isRunning(role, here)) ? OK : start(role, once, here))),
  'start-master': ({ here }) => withAll(here, (units) => units.startMaster(false), startEach(at('master'), here)),
  'stop-master': ({ here }) => withAll(here, (units) => units.stopMaster(), stopEach(at('master'), here)),
  'start-all': ({ here }) =>
    withAll(
      here,
      (units) => units.startAll(),
      () =>
        startEach(
          started.filter((role) => belongs(role, here)),
          here,
        )(),
    ),
  'stop-all': ({ here }) => withAll(here, (units) => units.stopAll(), stopEach(daemons, here)),
  'rotate-logs': ({ here, args }) => named(args, (role) => hangUp([role], here)),
  'rotate-all-logs': ({ here }) => hangUp(daemons, here),
  'reload-ssh-keys': ({ here }) => reloadSshDaemon(here.run).then(() => OK),
}

/** Resolves to an exit code. */
export async function daemonUtil(
  [action = '', ...args]: readonly string[],
  paths: Paths,
  machine: Machine & { readonly disk: Disk } = { ...thisMachine, disk: ownedDisk },
): Promise<number> {
  const known = new Map(Object.entries(actions)).get(action)
  const {
    lines = [],
    problem,
    code = EXIT.success,
  }: Answer = known === undefined
    ? failed(`daemon-util: unknown command '${action}'; it knows ${Object.keys(actions).join(', ')}`)
    : await known({ here: { ...machine, paths }, args })
  for (const line of lines) process.stdout.write(`${line}\n`)
  if (problem !== undefined) process.stderr.write(`${problem}\n`)
  return code
}

/** Whether the node should have the role, as far as its files say. The votes decide about the master. */
const belongs = (role: Role, here: Here): boolean => isFor(role, here) && (role.place !== 'master' || isMaster(here))

const at = (place: Role['place']): readonly Role[] => daemons.filter((role) => role.place === place)

function exitCode(code: string | undefined): Answer {
  if (code === undefined) return failed('Missing exit code.')
  if (Number(code) === EXIT.notMaster) return { lines: ['not master'] }
  return code === '0' ? OK : { lines: [`exit code ${code}`], code: EXIT.failure }
}

function named(
  [name, ...rest]: readonly string[],
  action: (role: Role, rest: readonly string[]) => Answer | Promise<Answer>,
): Answer | Promise<Answer> {
  if (name === undefined) return failed('Missing daemon name.')
  const role = daemons.find(({ program }) => program === name)
  return role === undefined ? failed(`Unknown daemon name '${name}'`) : action(role, rest)
}

const unitsOf = (here: Here): Promise<SystemUnits | undefined> => systemUnits({ ...here, roles: ROLES })

async function withAll(
  here: Here,
  order: (units: SystemUnits) => Promise<void>,
  otherwise: () => Promise<Answer>,
): Promise<Answer> {
  const units = await unitsOf(here)
  if (units === undefined) return otherwise()
  await order(units)
  return OK
}

const startEach = (roles: readonly Role[], here: Here) => async (): Promise<Answer> => {
  let lost = false
  for (const role of roles) {
    // The master's other daemons would wait in vain for daemons that have lost the votes.
    if (lost && role.place === 'master') continue
    const { problem, code } = await start(role, [], here)
    lost ||= code === EXIT.notMaster
    if (code !== undefined && code !== EXIT.notMaster) return { code, ...(problem !== undefined && { problem }) }
  }
  return OK
}

const stopEach = (roles: readonly Role[], here: Here) => async (): Promise<Answer> => {
  for (const role of roles.toReversed()) await stop(role, here)
  return OK
}

async function isRunning(role: Role, here: Here): Promise<boolean> {
  const units = await unitsOf(here)
  return units === undefined ? (await pidOf(role, here)) !== undefined : units.isActive(role.program)
}

async function start(role: Role, once: readonly string[], here: Here): Promise<Answer> {
  const units = await unitsOf(here)
  if (units !== undefined) {
    await units.start(role.program, once)
    return OK
  }
  if ((await pidOf(role, here)) !== undefined) return OK
  // As the unit ganeti-common does it: a daemon's account can neither make its folders nor open what root has left there.
  await ensureDirectories(here.paths)
  const { program, user, group, name } = role
  const input = await argumentsOf(name, here)
  const account = (await accountExists(user, here)) ? ['--chuid', `${user}:${group}`] : []
  const argv = ['start-stop-daemon', '--start', '--quiet', '--oknodo', ...account, ...(await processOf(role, here))]
  const { code, output } = await here.run([...argv, '--startas', `${SBIN}/${program}`, '--', ...input, ...once], {
    timeout_s: UNITS_S,
  })
  return code === 0 ? OK : { problem: `${program} did not start: ${output.trim()}`, code: code ?? EXIT.failure }
}

async function stop(role: Role, here: Here): Promise<Answer> {
  const units = await unitsOf(here)
  if (units !== undefined) {
    await units.stop(role.program)
    return OK
  }
  if ((await pidOf(role, here)) === undefined) return OK
  const argv = ['start-stop-daemon', '--stop', '--quiet', '--oknodo', '--retry', String(DAEMON_STOP_S)]
  const { code, output } = await here.run([...argv, ...(await processOf(role, here))], {
    timeout_s: DAEMON_STOP_S + ARGUMENTS_S,
  })
  return code === 0 ? OK : failed(`${role.program} did not stop: ${output.trim()}`)
}

/** start-stop-daemon refuses a pid file that is not root's, unless it is told whose process that is. */
async function processOf({ name, user }: Role, here: Here): Promise<string[]> {
  const account = (await accountExists(user, here)) ? ['--user', user] : []
  return ['--pidfile', here.paths.pidFile(name), ...account]
}

/** A shell reads the file, because it is written in shell syntax. */
async function argumentsOf(name: string, { run, paths }: Here): Promise<string[]> {
  const variable = `${name.toUpperCase()}_ARGS`
  const file = paths.local(DEFAULTS)
  const script = `[ ! -e ${file} ] || . ${file}; printf '%s\\n' $${variable} $EXTRA_${variable}`
  const { stdout } = await run(['sh', '-c', script], { timeout_s: ARGUMENTS_S })
  return stdout.split('\n').filter((word) => word !== '')
}

const accountExists = async (user: string, { disk }: Here): Promise<boolean> =>
  ((await disk.read('/etc/passwd')) ?? '')
    .toString('utf8')
    .split('\n')
    .some((line) => line.startsWith(`${user}:`))

/** Daemons reopen their logs by themselves. On SIGHUP they read certificates and users again. */
async function hangUp(roles: readonly Role[], here: Here): Promise<Answer> {
  for (const role of roles) {
    const pid = await pidOf(role, here)
    if (pid !== undefined) here.processes.signal(pid, 'SIGHUP')
  }
  return OK
}

/** Another process may have the number in the file by now. */
async function pidOf(role: Role, { paths, disk, files }: Here): Promise<number | undefined> {
  const pid = Number((await disk.read(paths.pidFile(role.name)))?.toString('utf8') ?? Number.NaN)
  if (!Number.isInteger(pid)) return undefined
  const command = await files.readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return command.startsWith(role.program) ? pid : undefined
}
