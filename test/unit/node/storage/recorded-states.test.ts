// Nodes with logical volumes and DRBD in many states, as they were recorded: our node daemon reads from LVM's reports, from the kernel
// and from drbdsetup what a real one has answered, and starts no more programs. Where a mirror was broken by hand, drbdsetup's text is put
// together from recorded ones.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { systemFiles } from '../../../../src/lib/files'
import type { Run } from '../../../../src/lib/programs/run-command'
import type { NodeContext } from '../../../../src/node/context'
import { blockdevHandlers } from '../../../../src/node/handlers/blockdev'
import { fileStorageHandlers } from '../../../../src/node/handlers/file-storage'
import { mirrorHandlers } from '../../../../src/node/handlers/mirrors'
import { volumeHandlers } from '../../../../src/node/handlers/volumes'
import { verifyNode } from '../../../../src/node/verify'
import type { ArgsOf } from '../../../../src/rpc/node/calls'
import type { DiskDict } from '../../../../src/rpc/node/dicts'
import { clockAt } from '../../../support/instant-clock'
import { testNode, type TestNode } from '../../../support/node-context'

interface State {
  /** Lines of `lvs -o vg_name,lv_name,lv_size,lv_attr,lv_tags,seg_count,devices,lv_kernel_major,lv_kernel_minor`. */
  readonly lvs: readonly string[]
  /** Lines of `vgs -o vg_name,vg_size,vg_free,vg_extent_size,lv_count`. */
  readonly vgs: readonly string[]
  readonly drbd: string
  readonly show: string
}

interface Call {
  readonly step: string
  readonly node: string
  readonly call: string
  readonly state: number
  /** Disks by their numbers. */
  readonly args: unknown
  readonly result?: unknown
  readonly failed?: string
  readonly programs: number
}

const FILE = path.join(__dirname, '../../../golden/storage/states.json')
const { states, disks, calls } = JSON.parse(fs.readFileSync(FILE, 'utf8')) as {
  readonly states: readonly State[]
  readonly disks: readonly DiskDict[]
  readonly calls: readonly Call[]
}

let node: TestNode
beforeAll(() => {
  node = testNode('node1.gnt.example', { clock: clockAt(0) })
})
afterAll(() => node.remove())

const answerTo: Readonly<Record<string, (context: NodeContext, args: unknown) => unknown>> = {
  blockdev_find: (context, disk) => blockdevHandlers.blockdev_find(context, disksOf(disk)[0] as DiskDict),
  blockdev_getmirrorstatus: (context, some) => blockdevHandlers.blockdev_getmirrorstatus(context, disksOf(some)),
  blockdev_getmirrorstatus_multi: (context, some) =>
    blockdevHandlers.blockdev_getmirrorstatus_multi(context, disksOf(some)),
  drbd_needs_activation: (context, some) => mirrorHandlers.drbd_needs_activation(context, disksOf(some)),
  lv_list: (context, args) => volumeHandlers.lv_list(context, ...(args as ArgsOf<'lv_list'>)),
  vg_list: (context) => volumeHandlers.vg_list(context),
  node_volumes: (context) => volumeHandlers.node_volumes(context),
  storage_list: (context, args) => fileStorageHandlers.storage_list(context, ...(args as ArgsOf<'storage_list'>)),
  node_verify: (context, checks) =>
    verifyNode(context, {
      checks: checks as never,
      clusterName: 'cluster.gnt.example',
      hvparams: {},
      vmCapable: true,
    } as never),
}

test.each(calls.map((call, index) => [`${call.step}, ${index}: ${call.call} on ${call.node}`, call] as const))(
  '%s',
  async (_name, { call, state, args, programs, ...recorded }) => {
    const { context, asked: requested } = nodeIn(states[state] as State)
    const work = Promise.resolve().then(() => answerTo[call]?.(context, args))
    if (recorded.failed === undefined) expect(known(await work)).toEqual(known(recorded.result))
    else await expect(work).rejects.toThrow()
    // If it is asked for many disks at once, ours also asks drbdsetup, which tells whether a device is really the disk's.
    const more = call === 'blockdev_getmirrorstatus_multi' && requested.includes('drbdsetup show') ? 1 : 0
    expect(requested.length).toBeLessThanOrEqual(programs + more)
  },
)

const disksOf = (numbers: unknown): DiskDict[] => [numbers].flat().flatMap((number) => disks[number as number] ?? [])

/** The words of errors differ. Nothing says which parts of a physical volume are used, and nothing asks. */
const known = (answer: unknown): unknown =>
  JSON.parse(
    JSON.stringify(answer, (key, value: unknown) => {
      if (key === 'lv_list') return undefined
      return Array.isArray(value) && value[0] === false && value.length === 2 ? [false, 'an error'] : value
    }),
  )

function nodeIn(state: State): { readonly context: NodeContext; readonly asked: readonly string[] } {
  const requested: string[] = []
  const run: Run = async (argv) => {
    requested.push(argv.join(' '))
    const stdout = printed(state, argv)
    return { code: 0, signal: null, stdout, stderr: '', output: stdout, timedOut: false }
  }
  const readFile = async (file: string) => {
    if (file !== '/proc/drbd') throw Object.assign(new Error(file), { code: 'ENOENT' })
    return state.drbd
  }
  return { context: { ...node.context, run, files: Object.assign({}, systemFiles, { readFile }) }, asked: requested }
}

/** The columns that are wanted, in the wanted units. */
function printed(state: State, argv: readonly string[]): string {
  if (argv.join(' ') === 'drbdsetup show') return state.show
  const columns =
    argv
      .find((word) => word.startsWith('-o'))
      ?.slice(2)
      .split(',') ?? []
  const unit = argv.includes('--units=b') ? 1 << 20 : 1
  const only = argv.includes('--') ? argv.slice(argv.indexOf('--') + 1) : undefined
  const rows = (reports[argv[0] ?? ''] ?? stranger(argv))(state, unit)
  return rows
    .filter((row) => only?.includes(row['vg_name'] ?? '') ?? true)
    .map((row) => `  ${columns.map((column) => row[column] ?? stranger([...argv, column])).join('|')}\n`)
    .join('')
}

const stranger = (words: readonly string[]): never => {
  throw new Error(`nothing of this kind is recorded: ${words.join(' ')}`)
}

type Rows = Readonly<Record<string, string>>[]

const size = (mib: string, unit: number): string =>
  unit === 1 ? mib.replace('m', '') : String(Number.parseFloat(mib) * unit)

const reports: Readonly<Record<string, (state: State, unit: number) => Rows>> = {
  lvs: ({ lvs, vgs }, unit) =>
    lvs.map((line) => {
      const [vg_name = '', lv_name = '', mib = '', lv_attr = '', lv_tags = '', , devices = '', major = '', minor = ''] =
        line.split('|')
      const [, , , extent = ''] = vgs.find((group) => group.startsWith(`${vg_name}|`))?.split('|') ?? []
      // No volume of the recordings has stripes.
      return {
        ...{ vg_name, lv_name, lv_size: size(mib, unit), lv_attr, lv_tags, devices, stripes: '1' },
        ...{ lv_kernel_major: major, lv_kernel_minor: minor, vg_extent_size: size(extent, unit) },
      }
    }),
  vgs: ({ vgs }, unit) =>
    vgs.map((line) => {
      const [vg_name = '', total = '', free = ''] = line.split('|')
      return { vg_name, vg_size: size(total, unit), vg_free: size(free, unit) }
    }),
  // Each group has one.
  pvs: ({ vgs }, unit) =>
    vgs.map((line) => {
      const [vg_name = '', total = '', free = ''] = line.split('|')
      return { pv_name: '/dev/vdb', vg_name, pv_size: size(total, unit), pv_free: size(free, unit), pv_attr: 'a--' }
    }),
}
