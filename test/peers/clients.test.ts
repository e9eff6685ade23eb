// Ganeti's own clients, unmodified, from Debian's packages.
import { spawn, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { qemuPresent, testWith } from '../support/needs'

jest.setTimeout(180_000)

const PYTHON = '/usr/bin/python3'
const HTOOLS = '/usr/lib/ganeti/3.0/usr/bin'

const hasPythonClient = spawnSync(PYTHON, ['-c', 'import ganeti.rapi.client']).status === 0
const hasHtools = fs.existsSync(`${HTOOLS}/hbal`)

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

testWith(hasHtools, 'ganeti-htools-3.0')('hinfo reads the cluster over LUXI', async () => {
  const { code, output } = await run(`${HTOOLS}/hinfo`, [`--luxi=${cluster.socket}`])
  expect(output).toMatch(/Cluster has 3 node\(s\) and 0 instance\(s\)|node1\.gantry\.local/)
  expect(code).toBe(0)
})

testWith(hasHtools, 'ganeti-htools-3.0')('hbal reads the cluster over the remote API', async () => {
  const url = cluster.url.replace('https://', `https://admin:${cluster.password}@`)
  const { code, output } = await run(`${HTOOLS}/hbal`, ['-m', url])
  expect(output).toMatch(/Loaded 3 nodes, 0 instances|Cluster is empty/)
  expect(code).toBe(0)
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
