import * as fs from 'node:fs/promises'
import { OpTestAllocator, OpTestDelay, OpTestOsParams } from '../opcodes/test'
import type { WireOpCode } from '../rpc/luxi/calls'
import { type Call, CommandFailure, EXIT } from './command'
import { firstArgument, opcodeOf, submitting } from './submit'
import { parseUnit } from '../model/param-types'

export const delay = submitting(OpTestDelay, (call) => {
  const duration = Number(firstArgument(call))
  if (!(duration > 0)) throw new CommandFailure(`Invalid duration '${firstArgument(call)}'`)
  const { options } = call
  return {
    duration,
    on_master: options.flag('on_master'),
    on_nodes: options.list('on_nodes') ?? [],
    repeat: options.number('repeat'),
    interruptible: options.flag('interruptible'),
    no_locks: options.flag('no_locks'),
  }
})

export const testOsParams = submitting(OpTestOsParams, ({ options }) => ({
  osparams_secret: options.keyValues('osparams_secret'),
}))

/** Prints what an allocator would be asked, or what it answers. */
export async function testAllocator(call: Call): Promise<number> {
  const { options, args } = call
  const disks = (options.text('disks') ?? '').split(',')
  const nics = (options.text('nics') ?? '').split(',')
  const result = await call.jobs.run(
    opcodeOf(OpTestAllocator, {
      mode: options.text('mode'),
      name: firstArgument(call),
      instances: args,
      memory: options.number('memory'),
      disks: disks.map((size) => ({ size: unit('disks', size), mode: 'rw' })),
      disk_template: options.text('disk_template'),
      nics: nics.map((nic) => {
        const [mac, ip, bridge] = nic.split('/').map((part) => (part === '' ? undefined : part))
        return { mac, ip, bridge }
      }),
      os: options.text('os'),
      vcpus: options.number('vcpus'),
      tags: options.text('tags')?.split(',') ?? [],
      direction: options.text('direction'),
      iallocator: options.text('iallocator'),
      evac_mode: options.text('evac_mode'),
      target_groups: options.list('target_groups') ?? [],
      spindle_use: options.number('spindle_use'),
      count: options.number('count'),
    }),
  )
  call.terminal.out(String(result))
  return EXIT.ok
}

function unit(option: string, text: string): number {
  try {
    return parseUnit(text)
  } catch {
    throw new CommandFailure(`Invalid ${option} parameter '${text}': use a number with m, g or t`)
  }
}

/** Each file holds a JSON list of opcodes: one job, or with --each one job for each opcode. */
export async function submitJobFiles(call: Call): Promise<number> {
  const { args, options, jobs } = call
  const repeated = <T>(items: readonly T[], times: number | undefined) =>
    Array.from({ length: times ?? 1 }, () => items).flat()
  const files = repeated(await Promise.all(args.map(readOps)), options.number('rep_job'))
  const lists = files.map((ops) => repeated(ops, options.number('rep_op')))
  const all = options.flag('each') ? lists.flat().map((op) => [op]) : lists
  const start_ms = call.clock.monotonic_ms()
  const outcomes = await jobs.runMany(
    all.map((ops) => ({ ops })),
    true,
  )
  if (options.flag('timing_stats')) {
    const total_s = (call.clock.monotonic_ms() - start_ms) / 1000
    call.terminal.out(`C:op     ${all.flat().length}`)
    call.terminal.out(`C:job    ${all.length}`)
    call.terminal.out(`T:total  ${total_s.toFixed(4)}`)
  }
  return outcomes.every(({ ok }) => ok) ? EXIT.ok : EXIT.failure
}

async function readOps(file: string): Promise<WireOpCode[]> {
  const value: unknown = JSON.parse(await fs.readFile(file, 'utf8'))
  if (!Array.isArray(value) || !value.every(isOp)) throw new CommandFailure(`${file} is not a list of opcodes`)
  return value
}

const isOp = (value: unknown): value is WireOpCode =>
  typeof value === 'object' && value !== null && 'OP_ID' in value && typeof value.OP_ID === 'string'
