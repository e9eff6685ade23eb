// gnt-cluster adopt, also called gantry-adopt: takes over a cluster of Ganeti, and gives it back. gantry-adopt is a
// separate program, which can be installed beside Ganeti.
import * as path from 'node:path'
import type { Report, NodeReport } from '../../bootstrap/adoption/inventory'
import type { AdoptionOptions } from '../../bootstrap/adoption/adoption'
import { AWAITS_JOBS_S, PROBE_S } from '../../model/limits/adoption'
import type { Call, Command, Tool } from '../command'
import { confirm } from '../input/confirm'
import { oAwaitJobs } from './options'
import { flag, value } from '../input/option'
import { CommandFailure, EXIT, UsageError } from '../outcome'
import { formatTable } from '../output/table'

const oCheck = flag('--check', 'check', 'say what there is and what stands in the way, and change nothing', {
  own: true,
})
const oBack = flag('--back', 'back', 'give the cluster back to Ganeti', { own: true })
const oPackages = value(
  '--packages',
  'packages',
  'string',
  'folder with the Debian packages gantry, gantry-VERSION and gantry-htools, and nodejs if nodes lack it',
  {
    own: true,
    metavar: 'DIR',
  },
)
const oYes = flag('--yes-do-it', 'yes_do_it', 'do not ask before anything changes', { own: true })

export const adoptCommand: Command = {
  name: 'adopt',
  help: 'take over a cluster of Ganeti 3.0 or 3.1, node by node, while its guests run on, or give it back; on its master',
  usage: '[--check] [--back] [--packages <dir>]',
  args: [],
  options: [oCheck, oBack, oPackages, oAwaitJobs, oYes],
  examples: ['--check', '--packages=/root/gantry', '--back'],
  run: adopt,
  data: reportData,
}

export const adoptTool: Tool = { name: 'gantry-adopt', commands: [{ ...adoptCommand, name: '' }] }

/** Only the check has output for programs. */
async function reportData(call: Call): Promise<unknown> {
  if (!call.options.flag('check')) throw new UsageError('--json and --output-format go with --check only')
  const { report } = await prepare(call)
  const plain = (facts: NonNullable<NodeReport['facts']>) =>
    Object.fromEntries(
      Object.entries(facts).map(([key, value]) => [key, value instanceof Map ? Object.fromEntries(value) : value]),
    )
  return { ...report, nodes: report.nodes.map((node) => ({ ...node, facts: node.facts && plain(node.facts) })) }
}

async function adopt(call: Call): Promise<number> {
  const { options, terminal } = call
  const { report, adoption, service } = await prepare(call)
  for (const line of reportLines(report, adoption.to)) terminal.out(line)
  const bad = service.hasProblems(report)
  if (options.flag('check')) return bad ? EXIT.failure : EXIT.ok
  if (bad) throw new CommandFailure('Nothing was changed: mend what is said to be a problem above first')
  if (adoption.to === 'gantry' && adoption.files.length === 0)
    throw new UsageError('--packages is needed: the folder with the packages gantry, gantry-VERSION and gantry-htools')
  const question = `The daemons of each node stop for some seconds, and its packages are exchanged. Guests run on. Continue?`
  if (!(await confirm(call, question, oYes))) return EXIT.notConfirmed
  const { went, left, seconds_without_master } = await service.exchangeAll(adoption, report).catch((error: unknown) => {
    throw error instanceof service.AdoptionFailure ? new CommandFailure(error.message) : error
  })
  terminal.out(went.length === 0 ? 'Nothing was left to do.' : `Done: ${went.join(', ')}.`)
  if (seconds_without_master !== undefined)
    terminal.out(`The cluster was without a master for ${seconds_without_master.toFixed(1)} s.`)
  if (left.length > 0) terminal.out(`Offline, and left as they are: ${left.join(', ')}.`)
  return EXIT.ok
}

async function prepare(call: Call) {
  const { options, terminal, clock, run } = call
  const [service, node] = await Promise.all([loadService(), call.thisNode()])
  const config = await service.masterConfig(node)
  const packages = await packagesIn(call, options.text('packages'))
  const adoption: AdoptionOptions = {
    ...{ ...node, clock, config, roles: service.ROLES },
    to: options.flag('back') ? 'ganeti' : 'gantry',
    shell: service.nodeShell(node.paths, config.cluster, run),
    files: packages.map(({ file }) => file),
    given: packages.map(({ name }) => name),
    patience_s: options.number('timeout') ?? AWAITS_JOBS_S,
    say: (text) => terminal.out(text),
  }
  return { report: await service.takeInventory(adoption), adoption, service }
}

/** Only this command loads it. */
async function loadService() {
  const [adoption, survey, shell, roles] = await Promise.all([
    import('../../bootstrap/adoption/adoption.js'),
    import('../../bootstrap/adoption/inventory.js'),
    import('../../bootstrap/node-shell.js'),
    import('../../roles/table.js'),
  ])
  return { ...adoption, ...survey, ...shell, ...roles }
}

/** Packages that must be present. */
const NEEDED = { gantry: /^gantry$/, 'gantry-htools': /^gantry-htools$/, 'gantry-VERSION': /^gantry-\d/ }

async function packagesIn({ files, run }: Call, folder: string | undefined) {
  if (folder === undefined) return []
  const names = (await files.readdir(folder)).filter((name) => name.endsWith('.deb'))
  const packages = await Promise.all(
    names.map(async (name) => {
      const file = path.resolve(folder, name)
      const { code, stdout, output } = await run(['dpkg-deb', '--field', file, 'Package'], { timeout_s: PROBE_S })
      if (code !== 0) throw new CommandFailure(`${file} is no Debian package: ${output.trim()}`)
      return { file, name: stdout.trim() }
    }),
  )
  for (const [name, pattern] of Object.entries(NEEDED)) {
    const found = packages.filter((one) => pattern.test(one.name))
    if (found.length !== 1)
      throw new CommandFailure(`${folder} has ${found.length === 0 ? 'no' : 'more than one'} package ${name}`)
  }
  return packages
}

const COLUMNS = ['Node', 'Role', 'Runs', 'Node.js', 'Guests', 'Room', 'Programs'].map((title) => ({
  title,
  alignRight: false,
}))

function reportLines(report: Report, to: AdoptionOptions['to']): string[] {
  const { cluster, config_version, instances, jobs, nodes } = report
  const findings = [
    ...report.problems.map((text) => `Problem: ${text}`),
    ...nodes.flatMap(({ name, problems }) => problems.map((text) => `Problem: ${name}: ${text}`)),
    ...report.notes.map((text) => `Note: ${text}`),
    ...nodes.flatMap(({ name, notes }) => notes.map((text) => `Note: ${name}: ${text}`)),
  ]
  const isDone = nodes.every(({ offline, product }) => offline || product === to)
  return [
    `Cluster ${cluster}: configuration of Ganeti ${config_version}, ${instances} instances, jobs: ${jobs.open} open, ${jobs.ended} ended`,
    ...formatTable(COLUMNS, nodes.map(row), { headers: true }),
    ...findings,
    ...(isDone ? [`Every node that is online runs ${to === 'gantry' ? 'Gantry' : 'Ganeti'}.`] : []),
  ]
}

function row({ name, role, offline, product, version, facts }: NodeReport): string[] {
  const runs = product === undefined ? (offline ? 'offline' : '?') : `${product} ${version ?? ''}`
  const programs = [...(facts?.programs ?? [])].map(
    ([program, text]) => `${program} ${/\d[\d.]*/.exec(text)?.[0] ?? ''}`,
  )
  return [
    ...[name, role, runs, facts?.node ?? '-'],
    String(facts?.guests.size ?? '-'),
    facts === undefined ? '-' : `${facts.room_mib} MiB`,
    programs.join(', ') || '-',
  ]
}
