// hscan, hroller and hsqueeze beside a real cluster: what they say, write and do is what Ganeti's own would.
import * as path from 'node:path'
import { parseClusterText } from '../../src/allocation/sources/text-format'
import type { EmbeddedCluster } from '../support/embedded-cluster'
import { DEBIAN_HTOOLS, HTOOLS_PACKAGE, debianPresent } from '../support/htools'
import { startMirrored } from '../support/mirrored-state'
import { runProgram as run } from '../support/run-program'
import { testWith } from '../support/needs'

const ours = (program: string): string => path.join(__dirname, `../../bin/${program}.js`)
const theirs = (program: string): string => `${DEBIAN_HTOOLS}/${program}`

let cluster: EmbeddedCluster

beforeAll(async () => void (cluster = await startMirrored()))
afterAll(() => cluster.remove())

const overLuxi = () => [`-L${cluster.socket}`]
const overRapi = () => [cluster.url.replace('https://', `https://admin:${cluster.password}@`)]

test('a cluster is written over LUXI and over the remote API, and both files say the same', async () => {
  const [luxi, rapi] = [await run(ours('hscan'), overLuxi()), await run(ours('hscan'), overRapi())]
  for (const ran of [luxi, rapi]) expect(ran).toMatchObject({ code: 0, err: '' })
  expect(luxi.out).toMatch(
    /^Name {2}Nodes {2}Inst BNode BInst {2}t_mem {2}f_mem t_disk f_disk {6}Score\nLOCAL {5}4 {5}6 /,
  )
  expect(Object.keys(luxi.files)).toEqual(['LOCAL.data'])
  expect(Object.values(rapi.files)).toEqual(Object.values(luxi.files))
  const { nodes, instances, groups } = parseClusterText(luxi.files['LOCAL.data'] ?? '')
  expect([nodes.length, instances.length, groups.length]).toEqual([4, 6, 2])
})

test('a cluster that does not answer is named, the others are written, and the program ends with 2', async () => {
  const [url = ''] = overRapi()
  const ran = await run(ours('hscan'), ['--no-headers', '127.0.0.1:1', url])
  expect(ran.code).toBe(2)
  expect(ran.out).toMatch(/\nError for 127\.0\.0\.1:1: failed to load data\. Details:\n.*\n/)
  expect(Object.keys(ran.files)).toEqual([`${url.replaceAll('/', '_')}.data`])
})

testWith(debianPresent(), HTOOLS_PACKAGE)("Ganeti's own hscan says and writes the same", async () => {
  for (const args of [overLuxi(), overRapi(), ['-p', ...overLuxi()], ['--no-headers', ...overLuxi()]]) {
    expect(await run(ours('hscan'), args)).toEqual(await run(theirs('hscan'), args))
  }
})

testWith(debianPresent(), HTOOLS_PACKAGE)("Ganeti's own hroller and hsqueeze say the same", async () => {
  const master = overRapi()[0] ?? ''
  for (const [program, ...args] of [
    ['hroller', '-v', '--print-moves', ...overLuxi()],
    ['hroller', '-G', 'rack2', '-m', master],
    ['hsqueeze', '-v', '-C', ...overLuxi()],
  ] as [string, ...string[]][]) {
    expect(await run(ours(program), args)).toEqual(await run(theirs(program), args))
  }
})

test('hsqueeze switches a node off that is not needed, and on again when it is', async () => {
  const node4 = async () =>
    (await cluster.master.queryNodes(['node4.gnt.example'], ['offline', 'tags', 'pinst_cnt'], false))[0]
  const off = await run(ours('hsqueeze'), [...overLuxi(), '-X'])
  expect(off).toMatchObject({ code: 0, err: '' })
  expect(off.out).toMatch(/^'Nodes to offline'\nnode4\.gnt\.example\n(Got job IDs \d+\n)+$/)
  expect(await node4()).toEqual([true, ['htools:standby:auto'], 0])
  const on = await run(ours('hsqueeze'), [...overLuxi(), '-X'])
  expect(on).toMatchObject({ code: 0, err: '' })
  expect(on.out).toMatch(/^'Nodes to online'\nnode4\.gnt\.example\nGot job IDs \d+\n/)
  expect((await node4())?.[0]).toBe(false)
})

test('gnt allocation says what fits and what would happen, and carries out the balance that it shows', async () => {
  const requested = await cluster.gnt(
    'allocation',
    'capacity',
    '-t',
    'diskless',
    '--memory',
    '8g',
    '--max-instances',
    '2',
  )
  expect(requested).toMatchObject({ code: 0 })
  expect(requested.stdout).toMatch(/^Group +Policy +Fits Why no more\n(.*\n)*default preferred +2 -\n/)
  const deaths = await cluster.gnt('allocation', 'whatif', '--no-headers', 'node2')
  expect(deaths).toMatchObject({ code: 0 })
  expect(deaths.stdout).toMatch(
    /^Nodes that die: node2\.gnt\.example\n(.*\n)*inst1\.gnt\.example restored +node2\.gnt\.example /,
  )
  expect(await cluster.gnt('node', 'modify', '-D', 'yes', 'node2')).toMatchObject({ code: 0 })
  const balance = ['allocation', 'balance', '--no-disk-moves', '--max-moves', '1']
  const plan = await cluster.gnt(...balance, '--json')
  const { steps, left_out } = JSON.parse(plan.stdout) as {
    steps: { instance: string; to: string[] }[]
    left_out: string
  }
  const [step] = steps
  expect(left_out).toMatch(/^moves that copy the disks of 1 mirrored instance: /)
  const done = await cluster.gnt(...balance, '-X', '-f', '--reason', 'even load')
  expect(done).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Failure') })
  expect(done.stderr).toContain(`Left out: ${left_out}\n`)
  expect(done.stdout).toContain(`${step?.instance}`)
  const [row] = await cluster.master.queryInstances([step?.instance ?? ''], ['pnode'], false)
  expect(row).toEqual([step?.to[0]])
  expect(await cluster.gnt('node', 'modify', '-D', 'no', 'node2')).toMatchObject({ code: 0 })
})

test('hsqueeze carries nothing out that it did not read over LUXI', async () => {
  const file = path.join(__dirname, '../data/htools/hsqueeze-underutilized.data')
  const ran = await run(ours('hsqueeze'), ['-t', file, '-X'])
  expect(ran.code).toBe(1)
  expect(ran.err).toBe('Error: hsqueeze: Execution of commands possible only on LUXI\n')
})
