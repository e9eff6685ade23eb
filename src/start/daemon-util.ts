// daemon-util: Ganeti's command for scripts to start, stop and check a node's daemons. Where systemd runs the machine,
// it gives systemd the orders. Elsewhere it starts daemons itself, with start-stop-daemon, under their accounts and
// with the arguments of /etc/default/ganeti.
import { systemUnits, type SystemUnits } from '../bootstrap/system-units'
import { thisMachine } from '../lib/machine'
import type { Paths } from '../lib/paths'
import { EXIT } from '../model/constants/daemons'
import { DAEMON_STOP_S, UNITS_S } from '../model/limits/daemons'
import { ownedDisk as disk } from '../model/owners'
import { inOrder, type Role } from '../roles/role'
import { ROLES } from '../roles/table'
import { reloadSshDaemon } from '../bootstrap/node-programs'

const DEFAULTS = '/etc/default/ganeti'
const SBIN = '/usr/sbin'
const daemons: readonly Role[] = inOrder(ROLES).filter(
  ({ nodes, place }) => nodes !== 'simulated' && place !== 'system',
)
/** Roles on demand are not started together with the others. */
const started = daemons.filter(({ place }) => place !== 'demand')

/** The result for the caller: lines to print, and an exit code. */
interface Answer {
  readonly lines?: readonly string[]
  readonly problem?: string
  readonly code?: number
}

interface Given {
  readonly paths: Paths
  readonly args: readonly string[]
}

const OK: Answer = {}
const failed = (problem: string): Answer => ({ problem, code: EXIT.failure })

/** By the words of Ganeti's scripts. */
const actions: Readonly<Record<string, (given: Given) => Answer | Promise<Answer>>> = {
  'check-config': ({ paths }) =>
    thisMachine.files.existsSync(paths.serverCert) ? OK : failed(`Missing configuration file ${paths.serverCert}`),
  'check-exitcode': ({ args: [code] }) => exitCode(code),
  'daemon-pidfile': ({ paths, args }) => named(args, (role) => ({ lines: [paths.pidFile(role.name)] })),
  'daemon-executable': ({ args }) => named(args, ({ program }) => ({ lines: [`${SBIN}/${program}`] })),
  'is-daemon-name': ({ args }) => named(args, () => OK),
  'list-start-daemons': () => ({ lines: started.map(({ program }) => program) }),
  'list-stop-daemons': () => ({ lines: daemons.map(({ program }) => program).toReversed() }),
  check: ({ paths, args }) =>
    named(args, async (role) => ((await isRunning(role, paths)) ? OK : { code: EXIT.failure })),
  start: ({ paths, args }) => named(args, (role, once) => start(role, once, paths)),
  stop: ({ paths, args }) => named(args, (role) => stop(role, paths)),
  'check-and-start': ({ paths, args }) =>
    named(args, async (role, once) => ((await isRunning(role, paths)) ? OK : start(role, once, paths))),
  'start-master': ({ paths }) => withAll(paths, (units) => units.startMaster(false), startEach(at('master'), paths)),
  'stop-master': ({ paths }) => withAll(paths, (units) => units.stopMaster(), stopEach(at('master'), paths)),
  'start-all': ({ paths }) => withAll(paths, (units) => units.startAll(), startEach(started, paths)),
  'stop-all': ({ paths }) => withAll(paths, (units) => units.stopAll(), stopEach(daemons, paths)),
  'rotate-logs': ({ paths, args }) => named(args, (role) => hangUp([role], paths)),
  'rotate-all-logs': ({ paths }) => hangUp(daemons, paths),
  'reload-ssh-keys': () => reloadSshDaemon(thisMachine.run).then(() => OK),
}

/** Resolves to an exit code. */
export async function daemonUtil([action = '', ...args]: readonly string[], paths: Paths): Promise<number> {
  const known = Object.hasOwn(actions, action) ? actions[action] : undefined
  const {
    lines = [],
    problem,
    code = EXIT.success,
  }: Answer = known === undefined
    ? failed(`daemon-util: unknown command '${action}'; it knows ${Object.keys(actions).join(', ')}`)
    : await known({ paths, args })
  for (const line of lines) process.stdout.write(`${line}\n`)
  if (problem !== undefined) process.stderr.write(`${problem}\n`)
  return code
}

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

const unitsOf = (paths: Paths): Promise<SystemUnits | undefined> =>
  systemUnits({ paths, disk, ...thisMachine, roles: ROLES })

async function withAll(
  paths: Paths,
  order: (units: SystemUnits) => Promise<void>,
  otherwise: () => Promise<Answer>,
): Promise<Answer> {
  const units = await unitsOf(paths)
  if (units === undefined) return otherwise()
  await order(units)
  return OK
}

const startEach = (roles: readonly Role[], paths: Paths) => async (): Promise<Answer> => {
  for (const role of roles) {
    const answer = await start(role, [], paths)
    if (answer.code !== undefined && answer.code !== EXIT.notMaster) return answer
  }
  return OK
}

const stopEach = (roles: readonly Role[], paths: Paths) => async (): Promise<Answer> => {
  for (const role of roles.toReversed()) await stop(role, paths)
  return OK
}

async function isRunning(role: Role, paths: Paths): Promise<boolean> {
  const units = await unitsOf(paths)
  return units === undefined ? (await pidOf(role, paths)) !== undefined : units.isActive(role.program)
}

async function start(role: Role, once: readonly string[], paths: Paths): Promise<Answer> {
  const units = await unitsOf(paths)
  if (units !== undefined) {
    await units.start(role.program, once)
    return OK
  }
  if ((await pidOf(role, paths)) !== undefined) return OK
  const { program, user, group, name } = role
  const given = await argumentsOf(name)
  const account = (await accountExists(user)) ? ['--chuid', `${user}:${group}`] : []
  const argv = ['start-stop-daemon', '--start', '--quiet', '--oknodo', ...account]
  const { code, output } = await thisMachine.run(
    [...argv, '--pidfile', paths.pidFile(name), '--startas', `${SBIN}/${program}`, '--', ...given, ...once],
    { timeout_s: UNITS_S },
  )
  return code === 0 ? OK : { problem: `${program} did not start: ${output.trim()}`, code: code ?? EXIT.failure }
}

async function stop(role: Role, paths: Paths): Promise<Answer> {
  const units = await unitsOf(paths)
  if (units !== undefined) {
    await units.stop(role.program)
    return OK
  }
  if ((await pidOf(role, paths)) === undefined) return OK
  const argv = ['start-stop-daemon', '--stop', '--quiet', '--oknodo', '--retry', String(DAEMON_STOP_S)]
  const { code, output } = await thisMachine.run([...argv, '--pidfile', paths.pidFile(role.name)])
  return code === 0 ? OK : failed(`${role.program} did not stop: ${output.trim()}`)
}

/** A shell reads the file, because it is written in shell syntax. */
async function argumentsOf(name: string): Promise<string[]> {
  const variable = `${name.toUpperCase()}_ARGS`
  const script = `[ ! -e ${DEFAULTS} ] || . ${DEFAULTS}; printf '%s\\n' $${variable} $EXTRA_${variable}`
  const { stdout } = await thisMachine.run(['sh', '-c', script])
  return stdout.split('\n').filter((word) => word !== '')
}

const accountExists = async (user: string): Promise<boolean> =>
  ((await disk.read('/etc/passwd')) ?? '')
    .toString('utf8')
    .split('\n')
    .some((line) => line.startsWith(`${user}:`))

/** Daemons reopen their logs by themselves. On SIGHUP they read certificates and users again. */
async function hangUp(roles: readonly Role[], paths: Paths): Promise<Answer> {
  for (const role of roles) {
    const pid = await pidOf(role, paths)
    if (pid !== undefined) thisMachine.processes.signal(pid, 'SIGHUP')
  }
  return OK
}

/** Another process may have the number in the file by now. */
async function pidOf(role: Role, paths: Paths): Promise<number | undefined> {
  const pid = Number((await disk.read(paths.pidFile(role.name)))?.toString('utf8') ?? Number.NaN)
  if (!Number.isInteger(pid)) return undefined
  const command = await thisMachine.files.readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return command.startsWith(role.program) ? pid : undefined
}
