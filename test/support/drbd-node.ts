// A node with a DRBD disk, as in a recording of Ganeti: the answers of its programs, and its kernel's reports about DRBD at each step.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { systemFiles } from '../../src/lib/files'
import type { NodeContext } from '../../src/node/context'
import type { DiskDict } from '../../src/rpc/node/dicts'
import { clockAt } from './instant-clock'
import { testNode } from './node-context'
import { recordedPrograms, type RecordedProgram } from './recorded-programs'
import { root } from './source-tree'

export const recorded = (name: string): string => fs.readFileSync(path.join(root, 'test/golden/storage', name), 'utf8')

const VOLUME = '55e04c36-651d-49a5-9f42-a46dd12e9286.disk0'
export const [DATA, META] = [`/dev/xenvg/${VOLUME}_data`, `/dev/xenvg/${VOLUME}_meta`]
const child = (name: string, size: number): DiskDict => {
  return { uuid: name, dev_type: 'plain', logical_id: ['xenvg', `${VOLUME}_${name}`], size, params: { stripes: 1 } }
}
export const CHILDREN = [child('data', 192), child('meta', 128)]
export const SECRET = '0123456789abcdef0123456789abcdef01234567'

export const drbdDisk = (more: Partial<DiskDict> = {}): DiskDict => ({
  uuid: 'aa661529-99cd-48d2-a550-2f13364658f5',
  dev_type: 'drbd',
  logical_id: ['node1-uuid', 'node2-uuid', 11000, 0, 0, SECRET],
  children: CHILDREN,
  iv_name: 'disk/0',
  size: 192,
  params: { 'resync-rate': 61440, 'disabled-barriers': 'n', 'disk-custom': '', 'net-custom': '', protocol: 'C' },
  dynamic_params: {
    ...{ 'local-ip': '198.51.100.21', 'remote-ip': '198.51.100.22' },
    ...{ 'local-minor': 0, 'remote-minor': 0 },
  },
  ...more,
})

export const VERSION = 'version: 8.4.11 (api:1/proto:86-101)\nsrcversion: F73C670A7EC572DB9CF3E5B \n'
/** The kernel's report about minor 0. */
export const kernelSays = (
  connection: string,
  disks = 'UpToDate/UpToDate',
  roles = 'Primary/Secondary',
  more = '',
): string =>
  `${VERSION} 0: cs:${connection} ro:${roles} ds:${disks} C r-----\n    ns:0 nr:0 dw:0 dr:0 al:8 bm:0 lo:0 pe:0 ua:0 ap:0 ep:1 wo:f oos:0\n${more}`

export const LVS = {
  argv:
    'lvs --noheadings --separator=| --units=b --nosuffix -ovg_name,lv_name,lv_size,lv_attr,lv_kernel_major,lv_kernel_minor,' +
    'vg_extent_size,stripes,devices,lv_tags',
  stdout: recorded('lvs-tags.txt'),
}
export const show = (stdout: string): RecordedProgram => ({ argv: 'drbdsetup show', stdout })
/** Wipes the device for the notes. */
export const WIPED: RecordedProgram = { argv: `blkdiscard --force --zeroout --length=${128 << 20} ${META}` }
export const SHOWN = show(recorded('show-connected.txt'))

export interface DrbdNode {
  /** The kernel's reports, one for each reading; the last one stays. Missing if DRBD is not loaded. */
  readonly kernel?: readonly string[]
  readonly programs?: readonly RecordedProgram[]
  readonly helper?: string
  /** The size of the device in MiB, or one for each question; the last one stays. */
  readonly size_mib?: number | readonly number[]
}

const next = <T>(reported: T[]): T | undefined => (reported.length > 1 ? reported.shift() : reported[0])

/** All given programs must be called, in any order, and no others. Returns their command lines. */
export async function onDrbdNode<T>(
  { kernel = [], programs = [], helper, size_mib }: DrbdNode,
  work: (context: NodeContext) => Promise<T> | T,
): Promise<{ result: T; asked: string[] }> {
  const { run, left, asked: requested } = recordedPrograms(programs)
  const says = [...kernel]
  const sizes_mib = [size_mib ?? []].flat()
  const missing = () => Promise.reject(Object.assign(new Error('not there'), { code: 'ENOENT' }))
  const readFile = (file: string) => {
    const reported: Record<string, () => string | undefined> = {
      '/proc/drbd': () => next(says),
      '/sys/block/drbd0/size': () => (sizes_mib.length === 0 ? undefined : `${Number(next(sizes_mib)) * 2048}\n`),
      '/sys/module/drbd/parameters/usermode_helper': () => helper,
    }
    const text = reported[file]?.()
    return text === undefined ? missing() : Promise.resolve(text)
  }
  const files = Object.assign({}, systemFiles, { readFile })
  const node = testNode('node1.gnt.example', { run, files, clock: clockAt(0) })
  try {
    const result = await work(node.context)
    return { result, asked: requested.map(({ argv }) => argv.join(' ')) }
  } finally {
    node.remove()
    expect(left()).toEqual([])
  }
}
