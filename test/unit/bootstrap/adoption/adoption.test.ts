// The order of an adoption, and its way back from every place where it can fail.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { AdoptionFailure, exchangeAll, type AdoptionOptions } from '../../../../src/bootstrap/adoption/adoption'
import { hasProblems, masterConfig, takeInventory, type Product } from '../../../../src/bootstrap/adoption/inventory'
import { applyChange } from '../../../../src/config/changes'
import { ssconfValues } from '../../../../src/config/ssconf'
import { createConfig } from '../../../../src/config/store-files'
import { EMPTY_GANTRY } from '../../../../src/config/upgrade'
import { systemDisk as disk } from '../../../../src/lib/disk'
import { type Paths, pathsOf } from '../../../../src/lib/paths'
import { systemRandom as random } from '../../../../src/lib/random'
import type { ConfigData } from '../../../../src/model/config'
import { PATH } from '../../../../src/model/constants/paths'
import { ROLES } from '../../../../src/roles/table'
import { clockAt } from '../../../support/instant-clock'
import { at, buildInstance, configOfNodes } from '../../config/builders'
import { FakeNodes } from '../../daemons/wconfd/support'
import { Machine, Machines } from './support'

const NODE = (number: number) => `node${number}.example.com`

let folder: string
let paths: Paths
let config: ConfigData
let machines: Machines
let nodes: FakeNodes
let said: string[]

beforeEach(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gad-'))
  // Below a folder of its own, and yet no virtual node.
  paths = { ...pathsOf(path.join(folder, NODE(1)), NODE(1)), root: '' }
  config = configOfNodes(3)
  await disk.makeDirectory(paths.queueDir)
  machines = new Machines(Object.fromEntries([1, 2, 3].map((n) => [NODE(n), new Machine()])))
  nodes = new FakeNodes()
  nodes.answer = () => Promise.resolve(3000000)
  said = []
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

const options = (to: Product = 'gantry'): AdoptionOptions => ({
  ...{ paths, disk, random, nodes, config, to, shell: machines, clock: clockAt(1e12) },
  ...{ roles: ROLES, hypervisors: ['kvm', 'fake'] },
  ...{ files: ['a.deb', 'b.deb'], given: ['gantry', 'gantry-htools'], patience_s: 60 },
  say: (text) => void said.push(text),
})
const look = (to?: Product) => takeInventory(options(to))
const go = async (to?: Product) => exchangeAll(options(to), await look(to))
const products = () => Object.values(machines.all).map(({ product }) => product)
const exchanges = () => machines.done.filter((line) => / to g/.test(line))
const problems = async (to?: Product) => (await look(to)).nodes.flatMap((node) => node.problems)
const pauses = () => nodes.of('set_watcher_pause').map(([, , [until]]) => until)

test('the master goes over first, and returns last', async () => {
  await expect(go()).resolves.toMatchObject({ went: [NODE(1), NODE(2), NODE(3)], left: [] })
  expect(products()).toEqual(['gantry', 'gantry', 'gantry'])
  await expect(go('ganeti')).resolves.toMatchObject({ went: [NODE(3), NODE(2), NODE(1)] })
  expect(products()).toEqual(['ganeti', 'ganeti', 'ganeti'])
})

test('jobs are held up while the master is away, and the watchers of all nodes rest', async () => {
  machines.jobs = 3
  await go()
  expect(said).toContain('waiting for jobs: 7')
  const order = machines.done.filter((line) => line.startsWith(`${NODE(1)} `) && !line.includes('asked'))
  expect(order).toEqual(
    ['gets 2 files', 'holds jobs', 'to gantry', 'releases jobs'].map((what) => `${NODE(1)} ${what}`),
  )
  expect(pauses().map((until) => typeof until)).toEqual([
    ...Array<string>(3).fill('number'),
    ...Array<string>(3).fill('object'),
  ])
})

test('jobs that do not end keep the master as it is', async () => {
  machines.jobs = Infinity
  await expect(go()).rejects.toThrow('Jobs did not end within 60 s: 7. Nothing was changed on the master')
  expect([exchanges(), machines.of(NODE(1)).queueHeld]).toEqual([[], false])
  expect(pauses().at(-1)).toBeNull()
})

test('a node on which it fails goes back, and says which have gone', async () => {
  machines.of(NODE(2)).failing.add('to gantry')
  await expect(go()).rejects.toThrow(
    `${NODE(2)} could not go over to Gantry, as said above. It runs Ganeti as before. These have: ${NODE(1)}. ` +
      'The same command goes on from here, and --back goes back',
  )
  expect(said).toContain(`${NODE(2)}: the end of its log`)
  expect(products()).toEqual(['gantry', 'ganeti', 'ganeti'])
  expect(machines.of(NODE(1)).queueHeld).toBe(false)
})

test('the same command goes on with the nodes that are left, and the opposite one returns those that went', async () => {
  machines.of(NODE(2)).failing.add('to gantry')
  await expect(go()).rejects.toThrow(AdoptionFailure)
  await expect(go('ganeti')).resolves.toMatchObject({ went: [NODE(1)] })
  await expect(go()).rejects.toThrow(AdoptionFailure)
  machines.of(NODE(2)).failing.clear()
  await expect(go()).resolves.toMatchObject({ went: [NODE(2), NODE(3)], seconds_without_master: undefined })
  await expect(go()).resolves.toMatchObject({ went: [] })
})

test('a node whose packages were half exchanged is done again', async () => {
  machines.of(NODE(3)).product = undefined
  machines.of(NODE(1)).product = 'gantry'
  await expect(go()).resolves.toMatchObject({ went: [NODE(2), NODE(3)] })
})

test('a master that fails goes back, and takes jobs again', async () => {
  machines.of(NODE(1)).failing.add('to gantry')
  await expect(go()).rejects.toThrow('It runs Ganeti as before. No node has gone over')
  expect([products(), machines.of(NODE(1)).queueHeld]).toEqual([['ganeti', 'ganeti', 'ganeti'], false])
})

test('a node that does not come back either is told to be looked at', async () => {
  for (const what of ['to gantry', 'to ganeti']) machines.of(NODE(2)).failing.add(what)
  await expect(go()).rejects.toThrow('It did not come back either: /var/lib/gantry-adopt/log there has all')
})

test('daemons that do not answer afterwards take the node back', async () => {
  nodes.answer = (node, call) =>
    call === 'version' && node === NODE(2) && machines.of(node).product === 'gantry'
      ? Promise.reject(new Error('nobody listens'))
      : Promise.resolve(3000000)
  await expect(go()).rejects.toThrow('It runs Ganeti as before')
  expect(said.join()).toContain('nobody listens')
  expect(products()).toEqual(['gantry', 'ganeti', 'ganeti'])
})

test("a guest that ends with its node's daemons stops everything", async () => {
  machines.of(NODE(2)).guests.set('vm1', 77)
  machines.of(NODE(2)).losesGuests = true
  await expect(go()).rejects.toThrow(AdoptionFailure)
  expect(said.join()).toContain('guests that ran before do not any more: vm1')
  expect(machines.of(NODE(3)).product).toBe('ganeti')
})

test('packages that would take others with them, or lack some, are not brought in', async () => {
  machines.plan = 'Remv ganeti\nRemv ganeti-instance-debootstrap\n'
  await expect(go()).rejects.toThrow(
    `${NODE(1)}: with Gantry's packages these would go, too: ganeti-instance-debootstrap`,
  )
  machines.plan = 'Remv ganeti\nInst gantry\nInst libfoo1\n'
  await expect(go()).rejects.toThrow('these have to be installed first: apt-get install libfoo1. Nothing was changed')
  expect(exchanges()).toEqual([])
})

test('offline nodes are left as they are', async () => {
  config = configOfNodes(3, { offline: true })
  await expect(go()).resolves.toMatchObject({ went: [NODE(1)], left: [NODE(2), NODE(3)] })
})

test('a check says of each node what stands in the way', async () => {
  const [one, two, three] = [1, 2, 3].map((n) => machines.of(NODE(n)))
  if (!one || !two || !three) throw new Error('there are three')
  const args = { 'arguments.RAPI_ARGS': '--no-such-thing', 'written.RAPI_ARGS': "'--no-such-thing'" }
  one.otherwise = { node: 'v18.19.0', ...args }
  two.otherwise = { hostname: 'node2', way_back: '', 'package.ganeti': 'installed 2.16.2-1', room_kib: '1024' }
  three.unreachable = true
  const report = await look()
  expect(hasProblems(report)).toBe(true)
  expect(report.nodes.map((node) => node.problems)).toEqual([
    [
      expect.stringContaining('/usr/bin/node is v18.19.0'),
      expect.stringMatching(/^\/etc\/default\/ganeti: .*no-such-thing/),
    ],
    [
      expect.stringContaining('Ganeti 2.16.2-1 is not known'),
      expect.stringContaining('no way back'),
      expect.stringContaining('/usr has 1 MiB left'),
      `the machine calls itself 'node2' (/etc/hostname), and the cluster '${NODE(2)}': the daemons would not know that they are meant. ` +
        `Let it have this name, with: hostnamectl set-hostname ${NODE(2)} && systemctl daemon-reload`,
    ],
    ['root cannot log in over SSH: No route to host'],
  ])
  expect(machines.done).toEqual([])
})

test('arguments that systemd reads otherwise than a shell are a problem where it runs', async () => {
  const one = machines.of(NODE(1))
  const written = (text: string, systemd = 'yes') => {
    one.otherwise = { 'arguments.RAPI_ARGS': '-b 127.0.0.1', 'written.RAPI_ARGS': text, systemd }
    return problems()
  }
  for (const same of ['"-b 127.0.0.1"', "'-b 127.0.0.1'", '-b 127.0.0.1']) expect(await written(same)).toEqual([])
  for (const other of ['"-b 127.0.0.1" # here', '"-b $HERE"', '-b\\ 127.0.0.1', ''])
    expect(await written(other)).toEqual([expect.stringContaining('let the line be RAPI_ARGS="-b 127.0.0.1"')])
  expect(await written('"-b 127.0.0.1" # here', '')).toEqual([])
})

test('the way back needs a package of Ganeti on each node, and nothing else', async () => {
  await go()
  for (const machine of Object.values(machines.all)) machine.otherwise = { node: 'v18.0.0', room_kib: '0' }
  expect(await problems('ganeti')).toEqual([])
  machines.of(NODE(2)).otherwise = { way_back: 'archive' }
  expect(await problems('ganeti')).toEqual([
    expect.stringContaining('put the one there to which the node is to go back'),
  ])
})

test('a Node that is among the packages need not be there before', async () => {
  for (const machine of Object.values(machines.all)) machine.otherwise = { node: '' }
  expect(await problems()).toHaveLength(3)
  const report = await takeInventory({ ...options(), given: ['gantry', 'gantry-htools', 'nodejs'] })
  expect(report.nodes.flatMap((node) => node.problems)).toEqual([])
})

test('instances with hypervisors that are not there are a problem', async () => {
  const documents = { config, gantry: EMPTY_GANTRY }
  const add = (n: number, fields: object) =>
    applyChange(documents, ['addInstance', buildInstance(config, n, fields), []], at(1)).documents.config
  config = add(1, { hypervisor: 'xen-pvm' })
  expect((await look()).problems).toEqual([expect.stringContaining('there is no hypervisor xen-pvm')])
})

test('jobs are counted, and those that cannot be read are named', async () => {
  fs.writeFileSync(`${paths.queueDir}/job-1`, '{')
  const op = { input: { OP_ID: 'OP_TEST_DELAY' }, log: [], priority: 0, result: null }
  const file = (id: number, status: string) =>
    JSON.stringify({
      id,
      ops: [{ ...op, status }],
      received_timestamp: [1, 0],
      start_timestamp: null,
      end_timestamp: null,
    })
  fs.writeFileSync(`${paths.queueDir}/job-2`, file(2, 'running'))
  fs.writeFileSync(`${paths.queueDir}/job-3`, file(3, 'success'))
  const { jobs, notes } = await look()
  expect(jobs).toEqual({ ended: 1, open: 1 })
  expect(notes).toContainEqual(expect.stringContaining('jobs that cannot be read are left alone: job-1'))
})

test('an upgrade that has not ended comes first, on the way there and back', async () => {
  fs.writeFileSync(paths.local(PATH.INTENT_TO_UPGRADE), '3.0,3.1,77\n')
  const text =
    "the upgrade from 3.0 to 3.1 has not ended: where it was cut off, 'gnt-cluster upgrade --resume' on the master"
  expect((await look()).problems).toEqual([expect.stringContaining(text)])
  expect((await look('ganeti')).problems).toEqual([expect.stringContaining(text)])
})

test("only the master's own configuration is taken over", async () => {
  await createConfig({ disk, paths }, config)
  await expect(masterConfig({ paths, disk, random })).rejects.toThrow('This node is in no cluster')
  for (const [key, value] of Object.entries(ssconfValues(config))) fs.writeFileSync(paths.ssconf(key), value)
  await expect(masterConfig({ paths, disk, random })).resolves.toMatchObject({ version: config.version })
  const other = { ...paths, hostname: NODE(2) }
  await expect(masterConfig({ paths: other, disk, random })).rejects.toThrow(`run the command on ${NODE(1)}`)
  const short = { ...paths, hostname: 'node1' }
  await expect(masterConfig({ paths: short, disk, random })).rejects.toThrow(
    `This may be the master node, but the machine calls itself 'node1' (/etc/hostname), and the cluster '${NODE(1)}'`,
  )
  const virtual = { ...paths, root: '/x' }
  await expect(masterConfig({ paths: virtual, disk, random })).rejects.toThrow('are virtual')
})
