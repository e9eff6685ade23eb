// The contract as other programs take it: strict readers accept the document, and a client that is generated from it compiles, and leads
// an instance through its life.
import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { createConfig, lint } from '@redocly/openapi-core'
import { documentOf, DOORS } from '../support/contract'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'

const ROOT = path.join(__dirname, '../..')
const CONTRACT = documentOf('rapi')

test.each(DOORS)(
  'a strict linter has nothing to say about the contract of %s',
  async (door) => {
    const config = await createConfig({ extends: ['recommended-strict'], rules: RULES })
    const problems = await lint({ ref: documentOf(door), config })
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
  },
  60_000,
)

const RULES = Object.fromEntries(
  [
    ...['no-invalid-schema-examples', 'no-invalid-media-type-examples', 'no-invalid-parameter-examples'],
    ...['operation-tag-defined', 'tag-description', 'info-contact'],
  ].map((rule) => [rule, 'error'] as const),
)

describe('a client that is generated from the contract', () => {
  let directory: string
  let cluster: EmbeddedCluster

  beforeAll(async () => {
    directory = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-client-'))
    cluster = await startCluster(['--hypervisor', 'fake', '--nodes', '1'])
  })

  afterAll(async () => {
    await cluster.remove()
    fs.rmSync(directory, { recursive: true })
  })

  test('compiles, and leads an instance through its life', async () => {
    fs.copyFileSync(path.join(ROOT, 'test/data/typed-client/life-cycle.mts'), path.join(directory, 'life-cycle.mts'))
    fs.writeFileSync(path.join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS }))
    fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(directory, 'node_modules'))
    // A request may leave out parameters that have a default.
    const more = ['--output', 'schema.d.ts', '--default-non-nullable', 'false']
    await run('node_modules/openapi-typescript/bin/cli.js', CONTRACT, ...more)
    await run('node_modules/typescript/bin/tsc', '-p', '.')
    const lines = (await run('life-cycle.mjs', cluster.url, cluster.password)).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      ['created on', 'node1.gantry.local'],
      ['startup', 'success'],
      ['is', 'running', 128, 'node1.gantry.local'],
      ['has', 128],
      ['modify', 'success'],
      ['again', 412, 'changed'],
      ['tags', 'success'],
      ['tagged', ['test', 'web']],
      ['reboot', 'success'],
      ['shutdown', 'success'],
      ['rename', 'success'],
      ['listed', [{ name: 'vm2', tags: ['test', 'web'] }], null],
      ['remove', 'success'],
      ['missing', 404, 'Not Found'],
    ])
  })

  /** Runs a program of Node in the client's folder, and answers what it printed. */
  function run(program: string, ...args: string[]): Promise<string> {
    // The cluster has made its certificate itself.
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: '', NODE_TLS_REJECT_UNAUTHORIZED: '0' }
    const child = spawn(process.execPath, [program, ...args], {
      cwd: directory,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [output, errors] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
    return new Promise((resolve, reject) => {
      child.once('close', (code) => {
        if (code === 0) resolve(output)
        else reject(new Error(`${program} ended with ${code}: ${output}${errors}`))
      })
    })
  }
})

const OPTIONS = {
  ...{ target: 'es2023', lib: ['es2023', 'dom'], module: 'node20', strict: true, noUncheckedIndexedAccess: true },
  ...{ skipLibCheck: true, types: ['node'] },
}
