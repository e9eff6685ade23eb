// Mirrored disks in user space after operations that did not end: minors that belong to no disk any more, and copies without notes.
import * as fs from 'node:fs'
import type { Clock } from '../../../../../src/lib/clock'
import { systemFiles } from '../../../../../src/lib/files'
import { mirrorCall, mirrorList } from '../../../../../src/node/mirror/client'
import { Disks } from '../../../../../src/node/storage/disks'
import { DRIVERS } from '../../../../../src/node/storage/registry'
import { makeGroup } from '../../../../../src/node/storage/user/volumes'
import type { DiskDict } from '../../../../../src/rpc/node/dicts'
import { MirrorsOfNode } from '../../../../support/doubles/mirrors-of-node'
import { eventually } from '../../../../support/hypervisor'
import { sooner as clock } from '../../../../support/mirror-sides'
import { NbdClient } from '../../../../support/nbd-client'
import { type TestNode, testNode } from '../../../../support/node-context'

const MINOR = 3
const child = (name: string, size: number): DiskDict => ({
  ...{ uuid: name, dev_type: 'plain', logical_id: ['xenvg', name], size },
})
/** A disk that is the only one of its name, but not of its minor. */
const mirrored = (name: string): DiskDict => ({
  ...{ uuid: name, dev_type: 'drbd', logical_id: ['uuid-a', 'uuid-b', null, MINOR, MINOR, 'secret'], size: 4 },
  children: [child(`${name}.disk0_data`, 4), child(`${name}.disk0_meta`, 128)],
  dynamic_params: { 'local-minor': MINOR, 'local-ip': '192.0.2.1', 'remote-ip': '192.0.2.2' },
})

let node: TestNode
let mirrors: MirrorsOfNode
let storage: Disks
beforeEach(async () => {
  mirrors = new MirrorsOfNode()
  const { processes, mirrorProgram } = mirrors
  node = testNode('node1.example.com', { clock, processes, mirrorProgram, files: systemFiles })
  mirrors.of(node)
  await makeGroup(systemFiles, userVolumes(), 'xenvg', 1024)
  storage = disksWith(clock)
})
afterEach(async () => {
  await mirrors.end()
  node.remove()
})

const userVolumes = (): string => node.paths.local('/srv/ganeti/user-volumes')
const disksWith = (own: Clock): Disks => new Disks({ ...node.context, userVolumes: userVolumes(), clock: own }, DRIVERS)

async function create(disk: DiskDict): Promise<void> {
  for (const one of [...(disk.children ?? []), disk])
    await storage.createAndUse(one, one.size, { onPrimary: true, info: '' })
}

test('what an operation that did not end has left in a minor ends when a disk gets that minor', async () => {
  await create(mirrored('left'))
  await create(mirrored('new'))
  expect((await mirrorList(node.context)).get(MINOR)?.data).toContain('/new.disk0_data')
})

test('it does not while a guest has it open', async () => {
  await create(mirrored('left'))
  const { socket = '' } = (await mirrorList(node.context)).get(MINOR) ?? {}
  const guest = await NbdClient.open(socket)
  await expect(create(mirrored('new'))).rejects.toThrow(
    /^Disk .* cannot get minor 3, which exists already on node node1.example.com: a guest has it open/,
  )
  guest.close()
  const isDown = () =>
    mirrorCall(node.context, 'down', { minor: MINOR }, 'not down').then(
      () => true,
      () => undefined,
    )
  await eventually(isDown)
})

test('a copy without notes counts as missing, as after an exchange of volumes that ended half-way', async () => {
  const disk = mirrored('new')
  await create(disk)
  const { meta = '' } = (await mirrorList(node.context)).get(MINOR) ?? {}
  await storage.shutdown(disk)
  fs.truncateSync(meta, 0)
  fs.truncateSync(meta, 128 << 20)
  // Without another node there is no data at all.
  await expect(storage.assemble(disk)).rejects.toThrow('holds no notes of a mirrored disk')
  await storage.assemble({ ...disk, logical_id: (disk.logical_id ?? []).with(2, 11000) })
  expect((await mirrorList(node.context)).get(MINOR)).toMatchObject({ disk: 'Diskless', connection: 'WFConnection' })
})

test('a node looks for the other one before it writes, as that one may have newer data', async () => {
  const disk = mirrored('new')
  await create(disk)
  await storage.shutdown(disk)
  const withPort = { ...disk, logical_id: (disk.logical_id ?? []).with(2, 11000) }
  const role = async () => (await mirrorList(node.context)).get(MINOR)?.role
  const looked: (string | undefined)[] = []
  let passed_ms = 0
  const watched: Clock = {
    ...clock,
    monotonic_ms: () => passed_ms,
    async sleep(delay_ms) {
      passed_ms += delay_ms
      looked.push(await role())
    },
  }
  const again = disksWith(watched)
  await again.assemble(withPort)
  await again.open(withPort, true)
  expect(looked).toContain('Secondary')
  await expect(role()).resolves.toBe('Primary')
})
