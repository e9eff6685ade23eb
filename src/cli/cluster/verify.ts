// gnt-cluster verify, verify-disks and repair-disk-sizes.
import { isObject } from '../../lib/shapes/shape'
import { pythonText } from '../../lib/text/python-text'
import { OpClusterRepairDiskSizes, OpClusterVerify, OpClusterVerifyDisks } from '../../opcodes/cluster'
import { OpInstanceActivateDisks } from '../../opcodes/instance'
import type { Call } from '../command'
import { EXIT } from '../outcome'
import type { JobOutcome } from '../submit/jobs'
import { opcodeOf } from '../submit/submit'

export async function verifyCluster(call: Call): Promise<number> {
  const outcomes = await call.jobs.followSubmitted(await verifyJobs(call))
  return outcomes.every(isWell) ? EXIT.ok : EXIT.failure
}

/** What was found, as programs read it: from lines with error codes. */
export async function verifyData(call: Call): Promise<unknown> {
  const answers = await verifyJobs(call, { error_codes: true })
  const outcomes = await call.jobs.followSubmitted(answers)
  const ids = answers.flatMap(([ok, id]) => (ok ? Number(id) : []))
  const problems = (await call.master.queryJobs(ids, ['id', 'oplog'])).flatMap((row) => {
    const [job, logs] = row ?? []
    return list(logs)
      .flatMap((log) => list(log))
      .flatMap((entry) => problemIn(String(list(entry)[3])).map((problem) => ({ job, ...problem })))
  })
  const failed = outcomes.flatMap(({ ok, result }) => (ok ? [] : pythonText(result)))
  return { clean: outcomes.every(isWell), problems, failed_jobs: failed }
}

export const isClean = (data: unknown): boolean => isObject(data) && data['clean'] === true

const isWell = ({ ok, result }: JobOutcome): boolean => ok && list(result)[0] === true

const PROBLEM = /^\s*- (ERROR|WARNING):([A-Z0-9]+):([a-z]+):([^:]*):(.*)$/s

/** Reads `  - ERROR:ENODERPC:node:node1:text`; the cluster has no name. */
function problemIn(line: string) {
  const [, level, code, kind, name, text] = PROBLEM.exec(line) ?? []
  return level === undefined ? [] : [{ level, code, kind, name: name === 'None' ? null : name, text }]
}

/** The first job submits one for the configuration and one for each group. */
async function verifyJobs({ options, jobs }: Call, more: { error_codes?: boolean } = {}) {
  const skip_checks = [
    ...(options.flag('skip_nplusone_mem') ? ['nplusone_mem'] : []),
    ...(options.flag('skip_hvparam_assessment') ? ['hvparam_assessment'] : []),
  ]
  const result = await jobs.run(
    opcodeOf(OpClusterVerify, {
      ...options.parametersOf(OpClusterVerify),
      verbose: options.flag('verbose'),
      ignore_errors: options.list('ignore_errors'),
      group_name: options.text('nodegroup'),
      skip_checks,
      ...more,
    }),
  )
  return jobsOf(result)
}

/** The faults of disks, and the repairs. */
interface DiskRepair {
  /** Nodes that did not answer, and why. */
  readonly bad_nodes: Readonly<Record<string, string>>
  readonly activated: readonly string[]
  readonly not_activated: readonly string[]
  /** The volumes of instances that are gone: `[node, volume]`. */
  readonly missing: Readonly<Record<string, readonly (readonly [node: string, volume: string])[]>>
  readonly failed_jobs: readonly string[]
  readonly clean: boolean
}

export const disksData = (call: Call): Promise<DiskRepair> => repairAll(call, () => undefined)

export async function verifyDisks(call: Call): Promise<number> {
  const { clean } = await repairAll(call, (line) => call.terminal.out(line))
  if (!clean) call.terminal.err('Not all disks could be checked or activated.')
  return clean ? EXIT.ok : EXIT.failure
}

async function repairAll({ options, jobs }: Call, say: (line: string) => void): Promise<DiskRepair> {
  const result = await jobs.run(
    opcodeOf(OpClusterVerifyDisks, { group_name: options.text('nodegroup'), is_strict: !options.flag('no_strict') }),
  )
  const outcomes = await jobs.followSubmitted(jobsOf(result))
  const groups: Omit<DiskRepair, 'failed_jobs' | 'clean'>[] = []
  for (const { ok, result: answer } of outcomes) if (ok) groups.push(await repairGroup(jobs, list(answer)[0], say))
  const failed_jobs = outcomes.flatMap(({ ok, result: text }) => (ok ? [] : pythonText(text)))
  const all = {
    bad_nodes: Object.assign({}, ...groups.map(({ bad_nodes }) => bad_nodes)) as DiskRepair['bad_nodes'],
    activated: groups.flatMap(({ activated }) => activated),
    not_activated: groups.flatMap(({ not_activated }) => not_activated),
    missing: Object.assign({}, ...groups.map(({ missing }) => missing)) as DiskRepair['missing'],
    failed_jobs,
  }
  const wrong = [all.bad_nodes, all.missing].some((one) => Object.keys(one).length > 0)
  return { ...all, clean: !wrong && all.not_activated.length + failed_jobs.length === 0 }
}

/** Acts on a group's answer: `[bad nodes, instances to activate, missing disks]`. */
async function repairGroup(jobs: Call['jobs'], answer: unknown, say: (line: string) => void) {
  const [badNodes, instances, lost] = list(answer)
  const bad_nodes = Object.fromEntries(fieldsOf(badNodes).map(([node, text]) => [node, pythonText(text)]))
  for (const [node, text] of Object.entries(bad_nodes)) say(`Error gathering data on node ${node}: ${text}`)
  if (Object.keys(bad_nodes).length > 0) say('You need to fix these nodes first before fixing instances')
  const names = list(instances).map(String)
  const missing = Object.fromEntries(fieldsOf(lost).map(([name, volumes]) => [name, placesOf(volumes)]))
  const count = Object.keys(bad_nodes).length + names.length + Object.keys(missing).length
  if (count === 0) say('No disks need to be activated.')
  const [activated, not_activated]: [string[], string[]] = [[], []]
  // Disks without all of their volumes cannot be activated.
  for (const name of names.filter((one) => !Object.hasOwn(missing, one))) {
    say(`Activating disks for instance '${name}'`)
    const [outcome] = await jobs.runMany([{ ops: [opcodeOf(OpInstanceActivateDisks, { instance_name: name })] }], false)
    ;(outcome?.ok === true ? activated : not_activated).push(name)
  }
  for (const [name, places] of Object.entries(missing)) tellMissing(say, name, places, new Set(Object.keys(bad_nodes)))
  if (Object.keys(missing).length > 0)
    say(
      'You need to replace or recreate disks for all the above instances if this message persists after fixing broken nodes.',
    )
  return { bad_nodes, activated, not_activated, missing }
}

function tellMissing(
  say: (line: string) => void,
  instance: string,
  places: readonly (readonly [node: string, volume: string])[],
  broken: ReadonlySet<string>,
): void {
  if (places.every(([node]) => broken.has(node)))
    return say(`Instance ${instance} cannot be verified as it lives on broken nodes`)
  say(`Instance ${instance} has missing logical volumes:`)
  for (const [node, volume] of places) say(`\t${broken.has(node) ? 'broken node ' : ''}${node} /dev/${volume}`)
}

const placesOf = (volumes: unknown): [node: string, volume: string][] =>
  list(volumes).map((place) => {
    const [node, volume] = list(place)
    return [pythonText(node), pythonText(volume)]
  })

export async function repairDiskSizes(call: Call): Promise<number> {
  for (const { instance, disk, what, value } of await changedSizes(call))
    call.terminal.out(`${instance} disk/${disk}: ${what} is now ${value}`)
  return EXIT.ok
}

export async function changedSizes({ args, jobs }: Call) {
  const changes = await jobs.run(opcodeOf(OpClusterRepairDiskSizes, { instances: args }))
  return list(changes).map((change) => {
    const [instance, disk, what, value] = list(change).map(pythonText)
    return { instance, disk, what, value }
  })
}

const jobsOf = (result: unknown): [boolean, unknown][] =>
  list(isObject(result) ? result['jobs'] : []).flatMap((answer) =>
    Array.isArray(answer) ? [[answer[0] === true, answer[1] as unknown] as [boolean, unknown]] : [],
  )

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const fieldsOf = (value: unknown): [string, unknown][] => (isObject(value) ? Object.entries(value) : [])
