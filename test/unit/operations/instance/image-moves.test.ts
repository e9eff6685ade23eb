// Moves of instances whose disks are images of one Ceph cluster, on nodes with the real handlers: an image is mapped where it is needed, and
// nowhere else.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { blockdevHandlers } from '../../../../src/node/handlers/blockdev'
import { addPools, type Ceph } from '../../../support/doubles/pools-machine'
import { storageMachine } from '../../../support/doubles/storage-machine'
import type { FakeCluster } from '../../../support/fake-cluster'
import { clockAt } from '../../../support/instant-clock'
import { type TestNode, testNode } from '../../../support/node-context'
import { plainInstance, storageCluster } from '../../../support/storage-cluster'

const NAME = 'inst1.gnt.example'
const ADDRESSES = { 'node1.gnt.example': '192.0.2.1', 'node2.gnt.example': '192.0.2.2', 'node3.gnt.example': '192.0.2.3' } // prettier-ignore
const move = { instance_name: NAME, mode: 'live', target_node: 'node2.gnt.example' }

let [cluster, ceph, folder]: [FakeCluster, Ceph, string] = [storageCluster(), { images: '', watchers: new Map() }, '']
const nodes = new Map<string, TestNode>()

beforeEach(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-images-'))
  ceph = { images: path.join(folder, 'ceph'), watchers: new Map() }
  for (const [name, address] of Object.entries(ADDRESSES)) {
    const machine = storageMachine(path.join(folder, name))
    const node = testNode(name, { files: machine.files, run: machine.run, clock: clockAt(0) })
    addPools(machine, node, ceph, address)
    nodes.set(name, node)
  }
  cluster = storageCluster()
  const templates = ['plain', 'rbd'] as const
  const ipolicy = { ...cluster.config.cluster.ipolicy, 'disk-templates': templates }
  cluster.given(['patchCluster', { enabled_disk_templates: templates, ipolicy }])
  for (const [call, handler] of Object.entries(blockdevHandlers)) {
    const run = handler as (...args: unknown[]) => unknown
    Object.assign(cluster.answers, {
      [call]: ({ name }: { name: string }, args: readonly unknown[]) => run(nodes.get(name)?.context, ...args),
    })
  }
  await cluster.run('OP_INSTANCE_CREATE', { ...plainInstance, disk_template: 'rbd', disks: [{ size: 64 }] })
  expect(mappedAt()).toEqual(['192.0.2.1'])
})
afterEach(() => {
  for (const node of nodes.values()) node.remove()
  nodes.clear()
  fs.rmSync(folder, { recursive: true })
})

const mappedAt = () => [...ceph.watchers.values()].flat()

test('a running guest moves to a node that maps the image beside the first one, which then lets go of it', async () => {
  await cluster.run('OP_INSTANCE_MIGRATE', move)
  expect(cluster.runningOn('inst1')).toEqual(['node2.gnt.example'])
  expect(mappedAt()).toEqual(['192.0.2.2'])
})

test('a third machine that has the image open ends the migration before the guest moves', async () => {
  ceph.watchers.set([...ceph.watchers.keys()][0] ?? '', ['192.0.2.1', '192.0.2.9'])
  await expect(cluster.run('OP_INSTANCE_MIGRATE', move)).rejects.toThrow('is in use at 192.0.2.1, 192.0.2.9')
  expect(cluster.runningOn('inst1')).toEqual(['node1.gnt.example'])
})

test.each(['accept_instance', 'instance_migrate'] as const)(
  'a migration in which %s fails leaves nothing mapped at the target, so the instance can be started again',
  async (call) => {
    cluster.answers[call] = () => {
      throw new Error('the link is down')
    }
    await expect(cluster.run('OP_INSTANCE_MIGRATE', move)).rejects.toThrow('the link is down')
    expect(mappedAt()).toEqual(['192.0.2.1'])
    await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: NAME })
    await cluster.run('OP_INSTANCE_STARTUP', { instance_name: NAME })
    expect(cluster.runningOn('inst1')).toEqual(['node1.gnt.example'])
  },
)

test('a migration whose second node cannot open the disks leaves nothing mapped there', async () => {
  const open = cluster.answers.blockdev_open
  cluster.answers.blockdev_open = async (node, args) => {
    await open?.(node, args)
    if (node.name === 'node2.gnt.example') throw new Error('the link is down')
    return null
  }
  await expect(cluster.run('OP_INSTANCE_MIGRATE', move)).rejects.toThrow('the link is down')
  expect(mappedAt()).toEqual(['192.0.2.1'])
})

test('wherever a migration dies, its cleanup leaves the image mapped only where the guest runs', async () => {
  for (let after = 1; cluster.runningOn('inst1').includes('node1.gnt.example'); after++) {
    cluster.asked.length = 0
    await cluster.runUntilKilled('OP_INSTANCE_MIGRATE', move, after)
    cluster.asked.length = 0
    try {
      const isMoved = cluster.instance('inst1')?.primary_node === cluster.node('node2').uuid
      const target_node = isMoved ? 'node1.gnt.example' : 'node2.gnt.example'
      await cluster.run('OP_INSTANCE_MIGRATE', { ...move, target_node, cleanup: true })
    } catch (error) {
      // The error names this way out.
      expect(String(error)).toContain('does not seem to be running at all')
      await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: NAME })
      await cluster.run('OP_INSTANCE_STARTUP', { instance_name: NAME })
    }
    const places = cluster.runningOn('inst1')
    expect(places).toHaveLength(1)
    expect(mappedAt()).toEqual(places.map((one) => ADDRESSES[one as keyof typeof ADDRESSES]))
  }
})
