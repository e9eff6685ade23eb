// What it costs to look at many disks: one program for a call and not one for each disk, wherever the storage can list what it has; and where
// it cannot, only a few programs at the same time. Nothing is changed by it.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { blockdevHandlers } from '../../../../src/node/handlers/blockdev'
import { Disks } from '../../../../src/node/storage/disks'
import type { NodeContext } from '../../../../src/node/context'
import type { DiskDict } from '../../../../src/rpc/node/dicts'
import { DISKS_AT_ONCE } from '../../../../src/model/limits/storage'
import { withDrbd } from '../../../support/doubles/drbd-machine'
import { addPools } from '../../../support/doubles/pools-machine'
import { storageMachine } from '../../../support/doubles/storage-machine'
import { clockAt } from '../../../support/instant-clock'
import { testNode } from '../../../support/node-context'

const COUNT = 10
const KERNEL = { access: 'kernelspace' }
const RBD = { ...KERNEL, pool: 'rbd', 'user-id': '' }
const volume = (name: string, size = 1): DiskDict => {
  return { uuid: name, dev_type: 'plain', logical_id: ['xenvg', name], size }
}

interface Look {
  readonly disk: (number: number) => Omit<DiskDict, 'uuid' | 'size'>
  /** Whether they are in use at the time. */
  readonly assembled?: true
  /** The programs of the whole call, by name. */
  readonly status: Readonly<Record<string, number>>
  readonly sizes: Readonly<Record<string, number>>
}

const file = (dev_type: string, folder: string) => (n: number) => {
  return { dev_type, logical_id: ['loop', `/srv/ganeti/${folder}/inst1.example.com/${n}`] }
}
const image = (params: DiskDict['params']) => (n: number) => {
  return { dev_type: 'rbd', logical_id: ['rbd', `${n}.rbd`], params }
}

const LOOKS: Readonly<Record<string, Look>> = {
  file: { disk: file('file', 'file-storage'), status: {}, sizes: {} },
  sharedfile: { disk: file('sharedfile', 'shared-file-storage'), status: {}, sizes: {} },
  plain: { disk: (n) => volume(`${n}.disk`), status: { lvs: 1 }, sizes: { lvs: 1 } },
  drbd: {
    disk: (n) => ({
      ...{ dev_type: 'drbd', logical_id: ['uuid-a', 'uuid-b', null, n, n, 'secret'] },
      children: [volume(`${n}.data`), volume(`${n}.meta`, 128)],
      dynamic_params: { 'local-minor': n, 'local-ip': '192.0.2.1', 'remote-ip': '192.0.2.2' },
    }),
    assembled: true,
    status: { drbdsetup: 1, lvs: 1 },
    sizes: { drbdsetup: 1 },
  },
  gluster: {
    disk: (n) => ({
      ...{ dev_type: 'gluster', logical_id: ['loop', `ganeti/${n}`] },
      params: { ...KERNEL, host: '127.0.0.1', port: 24007, volume: 'gv0' },
    }),
    status: {},
    sizes: {},
  },
  'rbd that nobody uses': {
    disk: image(RBD),
    status: { 'rbd showmapped': 1, 'rbd ls': 1 },
    sizes: { 'rbd showmapped': 1, 'rbd ls': 1, 'rbd info': COUNT },
  },
  'rbd that is mapped': {
    disk: image(RBD),
    assembled: true,
    status: { 'rbd showmapped': 1 },
    sizes: { 'rbd showmapped': 1, blockdev: COUNT },
  },
  'rbd without the kernel': {
    disk: image({ ...RBD, access: 'userspace' }),
    status: { 'rbd ls': 1 },
    sizes: { 'rbd ls': 1, 'rbd info': COUNT },
  },
  // There is no script that lists volumes.
  ext: {
    disk: (n) => ({
      dev_type: 'ext',
      logical_id: ['shelf', `${n}.ext`],
      params: { ...KERNEL, provider: 'shelf' },
    }),
    status: { attach: COUNT },
    sizes: { attach: COUNT, blockdev: COUNT },
  },
}

interface Watched {
  readonly context: NodeContext
  readonly disks: readonly DiskDict[]
  /** Since it was asked the last time. */
  programs(): Readonly<Record<string, number>>
  mostAtOnce(): number
}

async function withDisks({ disk, assembled }: Look, work: (watched: Watched) => Promise<void>): Promise<void> {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-looks-'))
  const machine = withDrbd(storageMachine(root, 64 * 1024))
  let [now, most] = [0, 0]
  const run: typeof machine.run = async (...input) => {
    most = Math.max(most, ++now)
    await new Promise((resolve) => setImmediate(resolve))
    return machine.run(...input).finally(() => void now--)
  }
  const node = testNode('node1.example.com', { files: machine.files, run, clock: clockAt(0) })
  try {
    addPools(machine, node)
    node.put('/etc/ganeti/file-storage-paths', '/srv/ganeti/file-storage\n/srv/ganeti/shared-file-storage\n/var/run/ganeti/gluster\n') // prettier-ignore
    const disks = Array.from({ length: COUNT }, (_, n) => ({ uuid: `u${n}`, size: 1, ...disk(n) }))
    for (const one of disks) {
      const trees = new Disks(node.context)
      for (const child of one.children ?? []) await trees.create(child, child.size)
      await trees.create(one, 1)
      if (assembled === true) await trees.assemble(one)
    }
    const programs = () => {
      const names = machine.asked.splice(0).map((line) => {
        const [program = '', verb = ''] = line.split(' ')
        return program === 'rbd' ? `rbd ${verb}` : path.basename(program)
      })
      const counts = new Map<string, number>()
      for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
      return Object.fromEntries(counts)
    }
    programs()
    most = 0
    await work({ context: node.context, disks, programs, mostAtOnce: () => most })
  } finally {
    node.remove()
    fs.rmSync(root, { recursive: true })
  }
}

test.each(Object.entries(LOOKS))('%s: many disks cost no more than their storage makes them', async (_name, look) => {
  await withDisks(look, async ({ context, disks, programs, mostAtOnce }) => {
    const all = await blockdevHandlers.blockdev_getmirrorstatus_multi(context, disks)
    expect(all.map(([found]) => found)).toEqual(disks.map(() => true))
    expect(programs()).toEqual(look.status)
    const sizes = await blockdevHandlers.blockdev_getdimensions(context, disks)
    expect(sizes.map((one) => one?.[0])).toEqual(disks.map(() => 2 ** 20))
    expect(programs()).toEqual(look.sizes)
    expect(mostAtOnce()).toBeLessThanOrEqual(DISKS_AT_ONCE)
  })
})

test('neither a missing disk nor a file that is not a disk hides the others', async () => {
  const look = LOOKS['rbd without the kernel']
  if (look === undefined) throw new Error('no such look')
  await withDisks(look, async ({ context, disks: [first, second, third] }) => {
    if (first === undefined || second === undefined || third === undefined) throw new Error('no disks')
    const strange = [
      { ...first, dev_type: 'tape' },
      { ...first, logical_id: ['rbd'] },
      { ...first, params: { pool: 7 } },
    ]
    const requested = [{ ...second, logical_id: ['rbd', 'gone'] }, ...strange, third]
    const found = await blockdevHandlers.blockdev_getmirrorstatus_multi(context, requested)
    expect(found.map(([there]) => there)).toEqual([false, false, false, false, true])
  })
})
