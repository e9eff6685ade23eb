// Instances of several disk templates in one cluster. Each is judged by the storage of its own template, or by none.
import { change } from '../../../../src/config/changes'
import type { Capacity, WhatIf } from '../../../../src/model/allocation'
import type { DiskTemplate } from '../../../../src/model/templates'
import type { NodeInfo } from '../../../../src/rpc/node/dicts'
import { type FakeCluster, smallCluster } from '../../../support/fake-cluster'

let cluster: FakeCluster
/** MiB free on each node, for files also on the second one only. */
let free: { lvm: number; file: number; second?: number }
/** The cluster data that a script got. */
let reported: { nodes: Record<string, { free_disk: number }> }[]

const ENABLED: DiskTemplate[] = ['sharedfile', 'file', 'plain', 'drbd', 'rbd', 'diskless']

beforeEach(() => {
  free = { lvm: 70_000, file: 70_000 }
  reported = []
  cluster = smallCluster(['node1', 'node2', 'node3'], {
    default_iallocator: 'hail',
    enabled_disk_templates: ENABLED,
    enabled_hypervisors: ['fake'],
    volume_group_name: 'xenvg',
  })
  const group = cluster.groupNamed('default').uuid
  cluster.given(change('patchNodeGroup', group, { ipolicy: { 'disk-templates': ENABLED } }))
  const hypervisor = { memory_total: 65_536, memory_free: 60_000, memory_dom0: 512, cpu_total: 8, cpu_nodes: 1, cpu_sockets: 1, cpu_dom0: 1 } // prettier-ignore
  cluster.answers = {
    ...cluster.answers,
    node_info: ({ name: node }, [units]): NodeInfo => [
      'boot',
      (units ?? []).flatMap(([type, name]) => {
        const files = node === 'node2.test' ? (free.second ?? free.file) : free.file
        const storage_free = type === 'lvm-vg' ? free.lvm : type === 'file' ? files : undefined
        return storage_free === undefined ? [] : [{ type, name, storage_size: 100_000, storage_free }]
      }),
      [hypervisor],
    ],
    all_instances_info: () => ({}),
    iallocator_runner: (_node, [, input]) => {
      reported.push(JSON.parse(input) as (typeof reported)[number])
      return JSON.stringify({ success: true, info: 'well done', result: ['node3.test'] })
    },
  }
})

/** One of 1 GiB on node1. */
const there = {
  drbd: () => cluster.addInstance('there.test', 'node1', {}, 'node2'),
  plain: () => cluster.addPlainDisk(cluster.addInstance('there.test', 'node1').uuid, 'node1'),
  file: () => cluster.addFileDisk(cluster.addInstance('there.test', 'node1').uuid, 'node1'),
}
const spec = (disk_template: string) => ({
  ...{ disk_template, memory_mib: 128, vcpus: 1 },
  disks_mib: disk_template === 'diskless' ? [] : [1024],
})
const desired = (disk_template: string) => ({
  ...{ instance_name: 'new.test', mode: 'create', os_type: 'noop', hypervisor: 'fake', disk_template, nics: [] },
  ...{ disks: disk_template === 'diskless' ? [] : [{ size: 1024 }], ip_check: false, name_check: false, start: false },
  beparams: { memory: 128 },
})

/** Where each of the doors finds room for such an instance. */
async function found(template: string): Promise<Record<string, boolean>> {
  const one = desired(template)
  const multi = { iallocator: 'hail', instances: [one], dry_run: true }
  const placed = (await cluster.run('OP_INSTANCE_MULTI_ALLOC', multi)) as { allocatable: string[] }
  const capacity = { spec: spec(template), max_instances: 1, iallocator: 'hail' }
  const { fits } = (await cluster.run('OP_CLUSTER_CAPACITY', capacity)) as Capacity
  const requested = { nodes: [], instances: [{ spec: spec(template) }] }
  const { placed: arrived } = (await cluster.run('OP_CLUSTER_WHAT_IF', requested)) as WhatIf
  const { disks } = one
  const direct = { direction: 'out', mode: 'allocate', name: 'new.test', iallocator: 'hail', disk_template: template }
  const size = { disks: disks.map((disk) => ({ ...disk, mode: 'rw' })), memory: 128, vcpus: 1, nics: [], os: 'noop' }
  const hail = JSON.parse(String(await cluster.run('OP_TEST_ALLOCATOR', { ...direct, ...size }))) as {
    success: boolean
  }
  return { multi: placed.allocatable.length > 0, capacity: fits > 0, whatIf: arrived.length > 0, hail: hail.success }
}

const everywhere = (room: boolean) => ({ multi: room, capacity: room, whatIf: room, hail: room })

test.each(['drbd', 'plain', 'file'] as const)(
  'beside one of template %s, instances of all templates are placed',
  async (old) => {
    there[old]()
    for (const template of ENABLED) expect([template, await found(template)]).toEqual([template, everywhere(true)])
  },
)

test.each(['sharedfile', 'rbd', 'diskless'])(
  'one of template %s is placed only if others keep room in their storage',
  async (template) => {
    there.plain()
    free.file = 0
    expect(await found(template)).toEqual(everywhere(true))
    free.lvm = 512
    expect(await found(template)).toEqual(everywhere(false))
  },
)

test.each(['drbd', 'plain'] as const)(
  'one of template file needs no room for %s in its storage, nor the other way round',
  async (old) => {
    there[old]()
    free = { ...free, file: 1024 + 512, second: 0 }
    const { hail: _, ...ours } = everywhere(true)
    // The protocol cannot tell, so the answer of hail itself is Ganeti's.
    expect(await found('file')).toMatchObject(ours)
    free.file = 0
    expect(await found('drbd')).toEqual(everywhere(true))
  },
)

test('files keep room in their storage for the files of a node that dies', async () => {
  there.file()
  const ours = (room: boolean) => ({ multi: room, capacity: room, whatIf: room })
  free.file = 1024 + 512
  expect(await found('file')).toMatchObject(ours(true))
  cluster.change('patchNode', cluster.node('node3').uuid, { offline: true })
  // The new one and the old one do not fit into the one node that is left.
  expect(await found('file')).toMatchObject(ours(false))
})

test('a script is told the storage that the instances use which are there', async () => {
  there.drbd()
  free.file = 5000
  for (const template of ['sharedfile', 'diskless', 'drbd', 'plain', 'file']) {
    const instances = [desired(template)]
    await cluster.failure('OP_INSTANCE_MULTI_ALLOC', { instances, iallocator: 'mine' })
  }
  expect(reported.map(({ nodes }) => nodes['node3.test']?.free_disk)).toEqual([70_000, 70_000, 70_000, 70_000, 5000])
})
