// Calls about disks as a real node daemon was recorded to answer them, one after the other: volumes with stripes, adopted volumes,
// physical volumes that nothing may be put on, and DRBD with parameters other than the defaults. Ganeti's commands and ours leave the
// same volumes and mirrors, and ours are never more.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { systemFiles } from '../../../../src/lib/files'
import type { Run } from '../../../../src/lib/programs/run-command'
import { runHandler } from '../../../../src/node/handlers/index'
import type { CallName } from '../../../../src/rpc/node/calls'
import type { DiskDict } from '../../../../src/rpc/node/dicts'
import { clockAt } from '../../../support/instant-clock'
import { testNode } from '../../../support/node-context'
import { Refusal, VolumeNode } from '../../../support/volume-node'

interface Call {
  readonly step: string
  readonly node: string
  /** Commands that somebody gave on the node. */
  readonly by_hand?: readonly string[]
  readonly call: CallName
  /** Disks by their numbers. */
  readonly args: readonly unknown[]
  readonly result?: unknown
  readonly failed?: string
  /** How many programs it has started, and those of them that change something and did not fail. */
  readonly programs: number
  readonly commands: readonly string[]
}

const FILE = path.join(__dirname, '../../../golden/storage/programs.json')
const { disks, calls } = JSON.parse(fs.readFileSync(FILE, 'utf8')) as {
  readonly disks: readonly DiskDict[]
  readonly calls: readonly Call[]
}
const PHYSICAL = { '/dev/vdb': ['xenvg', 24572], '/dev/vdc': ['second', 24572] } as const
const nodes = new Map<string, { readonly ours: VolumeNode; readonly theirs: VolumeNode }>()

function nodeNamed(name: string) {
  const physical = name === 'node0' ? {} : PHYSICAL
  const both = nodes.get(name) ?? { ours: new VolumeNode(physical), theirs: new VolumeNode(physical) }
  nodes.set(name, both)
  return both
}

const steps = [...new Set(calls.map(({ step }) => step))]

test.each(steps)('%s', async (step) => {
  for (const call of calls.filter((one) => one.step === step)) await compare(call)
})

async function compare({ node: name, by_hand = [], call, args, result, failed, programs, commands }: Call) {
  const { ours, theirs } = nodeNamed(name)
  for (const line of by_hand) for (const node of [ours, theirs]) node.run(line.split(' '))
  if (by_hand.length > 0) return
  for (const command of commands) theirs.run(command.split(' '))
  const { asked: requested, work } = answer(ours, name, call, args)
  if (failed === undefined) {
    const input = await work
    if (result !== undefined) expect(input).toEqual(result)
  } else await expect(work).rejects.toThrow()
  expect({ call, state: ours.state() }).toEqual({ call, state: theirs.state() })
  // Ours asks LVM to make a volume before it looks for the reason why that cannot be.
  const allowed = failed === undefined ? programs : programs + 1
  expect({ call, more: requested.slice(allowed) }).toEqual({ call, more: [] })
}

function answer(volumes: VolumeNode, name: string, call: CallName, args: readonly unknown[]) {
  const requested: string[] = []
  const run: Run = async (argv) => {
    requested.push(argv.join(' '))
    const rest = { signal: null, timedOut: false }
    try {
      const stdout = volumes.run(argv)
      return { ...rest, code: 0, stdout, stderr: '', output: stdout }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return { ...rest, code: 5, stdout: '', stderr: error.message, output: error.message }
    }
  }
  const readFile = async (file: string) => {
    if (file === '/proc/drbd') return volumes.kernel()
    const [, minor] = /^\/sys\/block\/drbd(\d+)\/size$/.exec(file) ?? []
    if (minor !== undefined) return `${volumes.minorSize_mib(Number(minor)) * 2048}\n`
    throw Object.assign(new Error(file), { code: 'ENOENT' })
  }
  const files = Object.assign({}, systemFiles, { readFile })
  const node = testNode(`${name}.gnt.example`, { run, files, clock: clockAt(0) })
  const work = Promise.resolve()
    .then(() => runHandler(node.context, call, withDisks(call, args) as never))
    .finally(() => node.remove())
  return { asked: requested, work }
}

/** The arguments at which a call has a disk, or a list of disks. */
const DISKS_AT: Readonly<Record<string, readonly number[]>> = {
  blockdev_open: [1],
  blockdev_close: [1],
  blockdev_addchildren: [0, 1],
  blockdev_removechildren: [0, 1],
}
const NONE = new Set(['storage_modify', 'storage_list', 'lv_list', 'vg_list'])

function withDisks(call: CallName, args: readonly unknown[]): unknown[] {
  if (NONE.has(call)) return [...args]
  if (call === 'blockdev_rename')
    return [(args[0] as readonly [number, unknown][]).map(([disk, id]) => [disks[disk], id])]
  const at = DISKS_AT[call] ?? [0]
  const input = (arg: unknown) => (Array.isArray(arg) ? arg.map((disk) => disks[Number(disk)]) : disks[Number(arg)])
  return args.map((arg, index) => (at.includes(index) ? input(arg) : arg))
}
