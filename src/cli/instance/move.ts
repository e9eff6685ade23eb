// Moves instances between nodes, and removes them: commands on one instance that ask first.
import { pythonText } from '../../lib/text/python-text'
import {
  OpInstanceChangeGroup,
  OpInstanceFailover,
  OpInstanceMigrate,
  OpInstanceMove,
  OpInstanceRemove,
} from '../../opcodes/instance'
import type { Call } from '../command'
import { EXIT, refusal } from '../outcome'
import { confirm } from '../input/confirm'
import { oYesDoItAnyway } from '../input/options'
import { firstArgument, opcodeOf } from '../submit/submit'

export async function removeInstance(call: Call): Promise<number> {
  const instance_name = firstArgument(call)
  const question = `This will remove instance ${instance_name} with all its disks and the data on them. Continue?`
  if (!(await confirm(call, question))) return EXIT.failure
  await call.jobs.run(opcodeOf(OpInstanceRemove, { ...call.options.parametersOf(OpInstanceRemove), instance_name }))
  return EXIT.ok
}

export async function failoverInstance(call: Call): Promise<number> {
  const { options } = call
  const instance_name = firstArgument(call)
  refuseTwoTargets(call)
  const question = `Failover of instance ${instance_name} shuts it down and starts it on another node. Continue?`
  if (!(await confirm(call, question))) return EXIT.failure
  const offline = `Failing over ${instance_name} without its other disks needs its node to be marked offline. Is it?`
  // The option that skips the question about the shutdown says nothing about the node's state.
  if (options.flag('ignore_consistency') && !(await confirm(call, offline, oYesDoItAnyway))) return EXIT.failure
  await call.jobs.run(opcodeOf(OpInstanceFailover, { ...options.parametersOf(OpInstanceFailover), instance_name }))
  return EXIT.ok
}

export async function migrateInstance(call: Call): Promise<number> {
  const { options } = call
  const instance_name = firstArgument(call)
  refuseTwoTargets(call)
  const mode = options.text('migration_mode')
  if (!options.flag('live') && mode !== undefined)
    throw refusal('Only one of the --non-live and --migration-mode options can be passed')
  const question = options.flag('cleanup')
    ? `Instance ${instance_name} will be recovered from a failed migration. Continue?`
    : `Instance ${instance_name} will be moved to another node while it runs; the guest sees a short pause. Continue?`
  if (!(await confirm(call, question))) return EXIT.failure
  await call.jobs.run(
    opcodeOf(OpInstanceMigrate, {
      ...options.parametersOf(OpInstanceMigrate),
      instance_name,
      mode: options.flag('live') ? mode : 'non-live',
    }),
  )
  return EXIT.ok
}

function refuseTwoTargets({ options }: Call): void {
  if (options.text('target_node') !== undefined && options.text('iallocator') !== undefined)
    throw refusal('Specify either an iallocator (-I), or a target node (-n) but not both')
}

export async function moveInstance(call: Call): Promise<number> {
  const { options } = call
  const instance_name = firstArgument(call)
  const question = `Instance ${instance_name} will be shut down and its disks copied to another node. Continue?`
  if (!(await confirm(call, question))) return EXIT.failure
  await call.jobs.run(
    opcodeOf(OpInstanceMove, {
      ...options.parametersOf(OpInstanceMove),
      instance_name,
      target_node: options.text('node'),
    }),
  )
  return EXIT.ok
}

export async function changeGroup(call: Call): Promise<number> {
  const name = firstArgument(call)
  const groups = call.options.list('to') ?? []
  const result = await call.jobs.run(
    opcodeOf(OpInstanceChangeGroup, {
      ...call.options.parametersOf(OpInstanceChangeGroup),
      instance_name: name,
      target_groups: groups.length === 0 ? undefined : groups,
    }),
  )
  return followJobs(call, result, `Instance '${name}' changed group`, `while changing group of instance '${name}'`)
}

/** Waits for the jobs to which an opcode may have handed a part of its work. */
export async function waitForHandedOn(call: Call, result: unknown): Promise<number> {
  if (jobsOf(result).length === 0) return EXIT.ok
  const bad = (await call.jobs.followSubmitted(jobsOf(result))).filter(({ ok }) => !ok)
  for (const job of bad) call.terminal.out(`Job failed, result is '${pythonText(job.result)}'.`)
  if (bad.length > 0) call.terminal.out(`${bad.length} job(s) failed.`)
  return bad.length === 0 ? EXIT.ok : EXIT.failure
}

const jobsOf = (result: unknown): unknown[] =>
  typeof result === 'object' && result !== null && 'jobs' in result && Array.isArray(result.jobs) ? result.jobs : []

/** Waits for the jobs to which an opcode handed its work; `done` and `during` word the end. */
export async function followJobs(call: Call, result: unknown, done: string, during: string): Promise<number> {
  const outcomes = await call.jobs.followSubmitted(jobsOf(result))
  const bad = outcomes.filter(({ ok }) => !ok).length
  call.terminal.out(bad === 0 ? `${done} successfully.` : `There were ${bad} errors ${during}.`)
  return bad === 0 ? EXIT.ok : EXIT.failure
}
