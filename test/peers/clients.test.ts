// Ganeti's own clients, unmodified, from Debian's packages.
import { spawn, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { DEBIAN_HTOOLS, HTOOLS_PACKAGE, debianPresent } from '../support/htools'
import { qemuPresent, testWith } from '../support/needs'

const PYTHON = '/usr/bin/python3'

const hasPythonClient = spawnSync(PYTHON, ['-c', 'import ganeti.rapi.client']).status === 0
const hasHtools = debianPresent()

let cluster: EmbeddedCluster
beforeAll(async () => {
  cluster = await startCluster(qemuPresent ? [] : ['--hypervisor', 'fake'])
})
afterAll(() => cluster.remove())

testWith(hasPythonClient, 'python3-ganeti-rapi')(
  "Ganeti's Python client leads an instance through its life",
  async () => {
    const result = await run(
      PYTHON,
      [path.join(__dirname, 'rapi_life_cycle.py'), cluster.url, 'admin'],
      cluster.password,
    )
    expect(result.output).toMatch(/nothing left +\[\]/)
    expect(result.code).toBe(0)
  },
)

testWith(hasPythonClient, 'python3-ganeti-rapi')("every method of Ganeti's Python client works", async () => {
  const fake = await startCluster(['--hypervisor', 'fake'])
  const program = path.join(__dirname, 'rapi_every_method.py')
  const { code, output } = await run(PYTHON, [program, fake.url, 'admin'], fake.password)
  await fake.remove()
  expect(output).toMatch(/methods that were not called +\[\]\n$/)
  expect(code).toBe(0)
})

describe("Ganeti's htools", () => {
  const toolTest = testWith(hasHtools, HTOOLS_PACKAGE)
  const doors = () => [`--luxi=${cluster.socket}`, `--master=${withPassword()}`]
  const withPassword = () => cluster.url.replace('https://', `https://admin:${cluster.password}@`)
  const names = ['c1', 'c2', 'c3', 'c4']
  const create = (name: string) => ({
    ...{ OP_ID: 'OP_INSTANCE_CREATE', mode: 'create', instance_name: name, disk_template: 'sharedfile' },
    ...{ os_type: 'gantry-tiny', disks: [{ size: 4 }], nics: [], beparams: { memory: 16 }, start: false },
    ...{ pnode: 'node1.gantry.local', ip_check: false, name_check: false },
  })

  toolTest('read the cluster through both doors alike', async () => {
    for (const name of names) expect((await cluster.run(create(name))).status).toBe('success')
    for (const [tool, desired] of [
      ['hinfo', /Cluster score: \d/],
      ['hbal', /Loaded 3 nodes, 4 instances/],
      ['hspace', /memory usage efficiency/],
      ['hcheck', /Cluster is not healthy/],
    ] as const)
      for (const door of doors()) {
        const { code, output } = await run(`${DEBIAN_HTOOLS}/${tool}`, [door])
        expect(output).toMatch(desired)
        expect([tool, code]).toEqual([tool, 0])
      }
  })

  toolTest('hscan writes what it reads', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-hscan-'))
    expect((await run(`${DEBIAN_HTOOLS}/hscan`, ['-d', folder, `--luxi=${cluster.socket}`])).code).toBe(0)
    expect((await run(`${DEBIAN_HTOOLS}/hscan`, ['-d', folder, withPassword()])).code).toBe(0)
    const files = fs.readdirSync(folder)
    expect(files).toHaveLength(2)
    for (const file of files) expect(fs.readFileSync(path.join(folder, file), 'utf8')).toMatch(/^c4\|/m)
    fs.rmSync(folder, { recursive: true })
  })

  toolTest('hbal balances the cluster over LUXI', async () => {
    const { code, output } = await run(`${DEBIAN_HTOOLS}/hbal`, [`--luxi=${cluster.socket}`, '-X'])
    expect(output).toMatch(/Got job IDs/)
    expect(code).toBe(0)
    const { data } = await cluster.master.query('instance', ['pnode'], null)
    expect(new Set(data.map(([node]) => node?.[1])).size).toBeGreaterThan(1)
  })

  afterAll(() =>
    hasHtools
      ? Promise.all(names.map((name) => cluster.run({ OP_ID: 'OP_INSTANCE_REMOVE', instance_name: name })))
      : undefined,
  )
})

function run(program: string, args: string[], input = '') {
  return new Promise<{ code: number | null; output: string }>((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
    child.on('error', reject).on('close', (code) => resolve({ code, output }))
    child.stdin.end(input + '\n')
  })
}
