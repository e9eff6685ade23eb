// The nodes of a recorded cluster answer as if its instances ran.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemDisk } from '../../../../src/lib/disk'
import { systemClock } from '../../../../src/lib/clock'
import { systemFiles } from '../../../../src/lib/files'
import { type Sim, startSim } from '../../../../src/daemons/sim/sim'
import { loadConfig } from '../../../../src/config/upgrade'
import { pathsOf } from '../../../../src/lib/paths'
import { systemRandom } from '../../../../src/lib/random'
import { type NodeClient, openNodeClient } from '../../../../src/rpc/node/client'
import type { InstanceDict } from '../../../../src/rpc/node/dicts'

const state = path.join(__dirname, '../../../golden/state/config.data')
const { config } = loadConfig(fs.readFileSync(state, 'utf8'), systemRandom)
const nodeNamed = (name: string) => Object.values(config.nodes).find((node) => node.name === name) ?? fail(name)
const [node1, node2, node3] = [1, 2, 3].map((n) => nodeNamed(`node${n}.gnt.example`))

let folder: string
let sim: Sim
let nodes: NodeClient
const start = () =>
  startSim({
    ...{ clock: systemClock, disk: systemDisk, files: systemFiles },
    socket: path.join(folder, 'sim.sock'),
    config,
    stateFile: path.join(folder, 'sim.json'),
  })

beforeEach(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-sim-'))
  sim = await start()
  // The client finds the simulator beside its own virtual root.
  nodes = openNodeClient({
    files: systemFiles,
    clock: systemClock,
    paths: pathsOf(path.join(folder, 'node1.gnt.example'), 'node1.gnt.example'),
  })
})
afterEach(async () => {
  nodes.close()
  await sim.close()
  fs.rmSync(folder, { recursive: true })
})

const instance = (name: string): InstanceDict => {
  const found = Object.values(config.instances).find((candidate) => candidate.name === name) ?? fail(name)
  const beparams = { ...config.cluster.beparams.default, ...found.beparams }
  return { ...found, beparams, secondary_nodes: [], disks_info: [] }
}

test('the recorded instances run on their nodes, as the real ones did', async () => {
  const results = await nodes.all(
    [node2, node3].flatMap((node) => node ?? []),
    'all_instances_info',
    [['fake', 'kvm'], {}],
  )
  expect([...results.values()]).toEqual([
    {
      ok: true,
      payload: {
        'inst1.gnt.example': { memory: 64, vcpus: 1, state: 0, time: 0 },
        'inst2.gnt.example': { memory: 128, vcpus: 2, state: 0, time: 0 },
      },
    },
    {
      ok: true,
      payload: {
        'inst3.gnt.example': { memory: 128, vcpus: 1, state: 0, time: 0 },
        'inst6.gnt.example': { memory: 64, vcpus: 1, state: 0, time: 0 },
      },
    },
  ])
})

test('an instance stops, starts elsewhere, and stays there when the simulator is restarted', async () => {
  if (!node1 || !node2) throw new Error('no nodes')
  const moved = instance('inst1.gnt.example')
  await nodes.one(node2, 'instance_shutdown', [moved, 120, []])
  await nodes.one(node1, 'instance_start', [moved, false, []])
  await sim.close()
  sim = await start()
  await expect(nodes.one(node2, 'instance_info', [moved.name, 'fake', {}])).resolves.toEqual({})
  await expect(nodes.one(node1, 'instance_info', [moved.name, 'fake', {}])).resolves.toMatchObject({ memory: 64 })
})

test('the files of a folder are renamed with it', async () => {
  if (!node1) throw new Error('no node')
  const recorded = Object.values(config.disks).find(({ dev_type }) => dev_type === 'sharedfile') ?? fail('disk')
  const before = path.dirname(String(recorded.logical_id[1]))
  const files = async (folder: string) =>
    (await nodes.one(node1, 'gantry_file_storage_list', [[folder]])).flat().map(([file]) => path.basename(file))
  const there = await files(before)
  await nodes.one(node1, 'file_storage_dir_rename', [before, '/srv/ganeti/shared-file-storage/renamed'])
  await expect(files(before)).resolves.toEqual([])
  await expect(files('/srv/ganeti/shared-file-storage/renamed')).resolves.toEqual(there)
  expect(there).toContain(path.basename(String(recorded.logical_id[1])))
})

test('disks of the configuration exist; a new one is created once, grows, and is removed', async () => {
  if (!node1) throw new Error('no node')
  const disk = { uuid: 'new', dev_type: 'plain', logical_id: ['vg', 'lv'], size: 10 }
  const recorded = Object.values(config.disks).find(({ dev_type }) => dev_type === 'sharedfile') ?? fail('disk')
  await expect(nodes.one(node1, 'blockdev_find', [recorded])).resolves.toMatchObject({ ldisk_status: 1 })
  await expect(nodes.one(node1, 'blockdev_find', [disk])).resolves.toBeNull()
  await nodes.one(node1, 'blockdev_create', [disk, 10, 'inst', true, 'info', false])
  await expect(nodes.one(node1, 'blockdev_create', [disk, 10, 'inst', true, 'info', false])).rejects.toThrow('exists')
  await nodes.one(node1, 'blockdev_grow', [disk, 5, false, true, false])
  await expect(nodes.one(node1, 'lv_list', ['vg'])).resolves.toEqual({ 'vg/lv': ['15.00', false, true] })
  await nodes.one(node1, 'blockdev_remove', [disk])
  await expect(nodes.one(node1, 'blockdev_find', [disk])).resolves.toBeNull()
})

test('nodes look healthy to cluster verify, with the digests of their recorded certificates', async () => {
  if (!node2) throw new Error('no node')
  const checks = { 'client-cert': null, instancelist: ['fake'], hypervisor: ['fake'], filelist: ['/etc/x'], time: null }
  await expect(nodes.one(node2, 'node_verify', [checks, 'cluster', {}])).resolves.toEqual({
    'client-cert': [null, config.cluster.candidate_certs[node2.uuid]],
    instancelist: ['inst1.gnt.example', 'inst2.gnt.example'],
    hypervisor: { fake: null },
    filelist: { '/etc/x': expect.stringMatching(/^[0-9a-f]{40}$/) },
    time: [expect.any(Number), expect.any(Number)],
  })
})

test('a thousand nodes answer', async () => {
  if (!node1) throw new Error('no node')
  const many = Array.from({ length: 1000 }, (_, n) => ({ ...node1, uuid: `${node1.uuid}-${n}` as typeof node1.uuid, name: `n${n}` })) // prettier-ignore
  const results = await nodes.all(many, 'node_info', [[['lvm-vg', 'xenvg', [false]]], [['fake', {}]]])
  expect([...results.values()].filter(({ ok }) => ok)).toHaveLength(1000)
})

test('a call that simulated nodes cannot do is refused by name', async () => {
  if (!node1) throw new Error('no node')
  await expect(nodes.one(node1, 'node_configure_ovs', ['s', null])).rejects.toThrow(
    "Simulated nodes have no 'node_configure_ovs'",
  )
  await expect(nodes.one(node1, 'iallocator_runner', ['nosuch', '{}', {}])).rejects.toThrow(
    "iallocator module 'nosuch' not found in the search path",
  )
})
