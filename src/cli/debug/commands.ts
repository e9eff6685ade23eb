// gnt-debug commands that submit test opcodes, or jobs from files.
import type { Files } from '../../lib/files'
import { OpTestAllocator, OpTestDelay, OpTestOsParams } from '../../opcodes/test'
import type { WireOpCode } from '../../rpc/luxi/calls'
import type { Call } from '../command'
import { CommandFailure, EXIT } from '../outcome'
import { readJson } from '../input/input-file'
import { firstArgument, opcodeOf, submitting } from '../submit/submit'
import { parseUnit } from '../../model/param-types'

export const delay = submitting(OpTestDelay, (call) => {
  const text = firstArgument(call)
  const duration = text.trim() === '' ? NaN : Number(text)
  if (!(duration >= 0)) throw new CommandFailure(`Invalid duration '${text}': say how many seconds, like 0.5`)
  const { options } = call
  return {
    ...options.parametersOf(OpTestDelay),
    duration,
    on_nodes: options.list('on_nodes') ?? [],
    no_locks: options.flag('no_locks'),
  }
})

export const testOsParams = submitting(OpTestOsParams, ({ options }) => options.parametersOf(OpTestOsParams))

/** Prints an allocator's input, or its answer. */
export async function testAllocator(call: Call): Promise<number> {
  call.terminal.out(String(await askAllocator(call)))
  return EXIT.ok
}

/** Both are JSON, but a script may answer with anything. */
export async function allocatorData(call: Call): Promise<unknown> {
  const text = await askAllocator(call)
  try {
    return JSON.parse(String(text)) as unknown
  } catch {
    return text
  }
}

function askAllocator(call: Call): Promise<unknown> {
  const { options, args } = call
  const disks = (options.text('disks') ?? '').split(',')
  const nics = (options.text('nics') ?? '').split(',')
  return call.jobs.run(
    opcodeOf(OpTestAllocator, {
      ...options.parametersOf(OpTestAllocator),
      name: firstArgument(call),
      instances: args,
      disks: disks.map((size) => ({ size: unit('disks', size), mode: 'rw' })),
      nics: nics.map((nic) => {
        const [mac, ip, bridge] = nic.split('/').map((part) => (part === '' ? undefined : part))
        return { mac, ip, bridge }
      }),
      os: options.text('os'),
      target_groups: options.list('target_groups') ?? [],
      count: options.number('count'),
    }),
  )
}

function unit(option: string, text: string): number {
  try {
    return parseUnit(text)
  } catch {
    throw new CommandFailure(`Invalid ${option} parameter '${text}': use a number with m, g or t`)
  }
}

/** Each file has a JSON list of opcodes: one job. With --each the jobs are submitted one by one. */
export async function submitJobFiles(call: Call): Promise<number> {
  const { args, options, jobs, clock, terminal } = call
  const tell = (line: string) => options.flag('timing_stats') && terminal.out(line)
  tell('Loading...')
  const input = await Promise.all(args.map((file) => readOps(call.files, file)))
  const [jobRepeat, opRepeat] = [options.number('rep_job') ?? 1, options.number('rep_op') ?? 1]
  const all = times(jobRepeat).flatMap((round) =>
    input.map((ops, at) => ({ name: `file ${args[at]}/${round}`, ops: times(opRepeat).flatMap(() => ops) })),
  )
  const start_ms = clock.monotonic_ms()
  const seconds = () => (clock.monotonic_ms() - start_ms) / 1000
  tell('Submitting...')
  const submitted = await jobs.submitMany(all, options.flag('each'))
  const submit_s = seconds()
  tell('Executing...')
  const outcomes = await jobs.follow(submitted, options.flag('verbose'))
  const total_s = seconds()
  tell(`C:op     ${String(all.flatMap(({ ops }) => ops).length).padStart(4)}`)
  tell(`C:job    ${String(all.length).padStart(4)}`)
  tell(`T:submit ${submit_s.toFixed(4)}`)
  tell(`T:exec   ${(total_s - submit_s).toFixed(4)}`)
  tell(`T:total  ${total_s.toFixed(4)}`)
  return outcomes.every(({ ok }) => ok) ? EXIT.ok : EXIT.failure
}

const times = (count: number): number[] => Array.from({ length: count }, (_, round) => round)

async function readOps(files: Files, file: string): Promise<WireOpCode[]> {
  const value = await readJson(files, file)
  if (!Array.isArray(value) || !value.every(isOp))
    throw new CommandFailure(`'${file}' is not a list of opcodes, each with its OP_ID`)
  return value
}

const isOp = (value: unknown): value is WireOpCode =>
  typeof value === 'object' && value !== null && 'OP_ID' in value && typeof value.OP_ID === 'string'
