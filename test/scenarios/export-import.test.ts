// Disks on their way between virtual nodes, with the real programs at both ends: to an export and back, to another node, and to
// an instance of a cluster that knows the same secret.
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import * as path from 'node:path'
import type { LogEntry, WireOpCode } from '../../src/rpc/luxi/calls'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { runProgram } from '../support/run-program'

const MOVE = path.join(__dirname, '../../bin/move-instance')

let cluster: EmbeddedCluster
beforeAll(async () => {
  cluster = await startCluster(['--hypervisor', 'fake'])
  await ok(
    'instance add -t file --disk 0:size=16m --disk 1:size=8m -o gantry-tiny -n node1 --no-start --tags=web,db source',
  )
  fill('node1', 'source')
})
afterAll(() => cluster.remove())

/** The bytes that the tests wrote to each disk, over the system that gantry-tiny had installed. */
let written: Buffer[] = []

test('an export holds the disks and tells what they are of', async () => {
  const log = await ok('backup export -n node2 --transport-compression=gzip source')
  expect(log).toMatch(/Exporting disk\/0 from node1\.gantry\.local to node2\.gantry\.local/)
  expect(log).toMatch(/disk\/0 finished receiving data/)
  expect(log).toMatch(/Finalizing export on node2\.gantry\.local/)
  expect(await exports()).toEqual([['node2.gantry.local', 'source']])
  const directory = exportOf('node2', 'source')
  const info = fs.readFileSync(path.join(directory, 'config.ini'), 'utf8')
  expect(info).toMatch(
    /^\[export\]\nversion = 0\ntimestamp = \d+\nsource = [0-9a-f-]{36}\nos = gantry-tiny\ncompression = none\n\n/,
  )
  expect(info).toMatch(/^\[instance\]\nname = source\n/m)
  expect(info).toMatch(/^tags = db web\n/m)
  const dumps = [0, 1].map((index) => new RegExp(`^disk${index}_dump = (.*)$`, 'm').exec(info)?.[1] ?? '')
  expectWritten(dumps.map((dump) => path.join(directory, dump)))
})

test('a newer export takes the place of older ones on all nodes', async () => {
  await ok('backup export -n node3 source')
  expect(await exports()).toEqual([['node3.gantry.local', 'source']])
  expect(fs.existsSync(exportOf('node2', 'source'))).toBe(false)
  expect(fs.readdirSync(path.dirname(exportOf('node3', 'source')))).toEqual(['source'])
})

test('an instance comes back from its export, under another name and on another node, with all its data', async () => {
  await ok('backup import -t file -n node2 --src-node=node3 --src-dir=source --net 0:mac=auto copy')
  expectWritten(diskFiles('node2', 'copy'))
  expect(await ok('instance list --no-headers -o name,os,tags,status copy')).toMatch(
    /^copy +gantry-tiny +db,web +ADMIN_down$/m,
  )
  // Under the old name, the export is found by itself.
  await ok('instance remove -f source')
  await ok('backup import -t file -n node1 source')
  expectWritten(diskFiles('node1', 'source'))
})

test('an instance that runs is not stopped for an export that would fail, and comes back after one that may', async () => {
  await ok('instance startup copy')
  const refused = await cluster.gnt('backup', 'export', '-n', 'node1', 'copy')
  expect(refused.stderr).toMatch(/you did not allow the instance to remain offline for a longer time/)
  expect(await ok('instance list --no-headers -o status copy')).toBe('running')
  await ok('backup export -n node1 --long-sleep copy')
  expect(await ok('instance list --no-headers -o status copy')).toBe('running')
})

test('exports are removed by name, also those of instances that are gone', async () => {
  await ok('instance remove -f copy')
  await ok('backup remove copy')
  expect(await exports()).toEqual([['node3.gantry.local', 'source']])
  expect(await ok('backup remove copy')).toMatch(/Export not found/)
})

test('an instance moves to another node with its data', async () => {
  await ok('instance move -f -n node3 source')
  expect(await ok('instance list --no-headers -o pnode source')).toBe('node3.gantry.local')
  expectWritten(diskFiles('node3', 'source'))
  expect(fs.existsSync(storageOf('node1', 'source'))).toBe(false)
  // No node but its own has any part of it.
  expect(await ok('instance list --no-headers -o snodes source')).toBe('')
})

test('an instance is sent to whoever shares the domain secret, and only to them', async () => {
  const prepared = await cluster.run({ OP_ID: 'OP_BACKUP_PREPARE', instance_name: 'source', mode: 'remote' })
  const { handshake, x509_key_name, x509_ca } = prepared.result as Record<string, unknown>
  const receiver = {
    ...{ OP_ID: 'OP_INSTANCE_CREATE', mode: 'remote-import', instance_name: 'received', os_type: 'gantry-tiny' },
    ...{ disk_template: 'file', disks: [{ size: 16 }, { size: 8 }], nics: [], pnode: 'node1', start: false },
    ...{ source_handshake: handshake, source_x509_ca: x509_ca, source_instance_name: 'source' },
  }
  const forged = await cluster.run({ ...receiver, source_handshake: [0, 'f'.repeat(40), 'aa'] })
  expect(forged).toMatchObject({ status: 'error' })
  expect(JSON.stringify(forged.result)).toMatch(/Hash didn't match, clusters don't share the same domain secret/)

  const id = await cluster.master.submitJob([reasoned(receiver)])
  const invitation = await remoteImport(id)
  const common = { OP_ID: 'OP_BACKUP_EXPORT', mode: 'remote', instance_name: 'source', x509_key_name }
  const sender = { ...common, destination_x509_ca: invitation.x509_ca, target_node: invitation.disks }
  const bent = invitation.disks.map(([host, , ...rest]) => [host, 1, ...rest])
  expect(JSON.stringify(await cluster.run({ ...sender, target_node: bent }))).toMatch(/HMAC is wrong/)
  expect(await cluster.run(sender)).toMatchObject({ status: 'success', result: [true, [true, true]] })
  expect(await ended(id)).toBe('success')
  expectWritten(diskFiles('node1', 'received'))
})

test('an instance moves to another cluster that knows the domain secret, with its data, and is in one of them at any time', async () => {
  const other = await startCluster(['--hypervisor', 'fake', '--nodes', '1'])
  try {
    const [source, destination] = [new URL(cluster.url), new URL(other.url)]
    const password = path.join(other.root, 'both-passwords')
    const words = (from: EmbeddedCluster, to: EmbeddedCluster) => [
      ...['src', 'dest'].flatMap((side) => [`--${side}-username=admin`, `--${side}-password-file=${password}-${side}`]),
      ...[`--src-ca-file=${certificateOf(from)}`, `--dest-ca-file=${certificateOf(to)}`, '--compress=gzip'],
      ...[source.hostname, destination.hostname, 'source'],
    ]
    fs.writeFileSync(`${password}-src`, cluster.password)
    fs.writeFileSync(`${password}-dest`, other.password)
    await ok('instance startup source')
    const strangers = await runProgram(MOVE, words(cluster, other))
    expect(strangers).toMatchObject({ code: 1, err: expect.stringMatching(/share the same domain secret/) })
    expect(await ok('instance list --no-headers -o status source')).toBe('running')

    const secret = path.join(cluster.root, 'node1.gantry.local/var/lib/ganeti/cluster-domain-secret')
    expect(await other.gnt('cluster', 'renew-crypto', '-f', `--cluster-domain-secret=${secret}`)).toMatchObject({
      code: 0,
    })
    const moved = await runProgram(MOVE, words(cluster, other))
    expect(moved).toMatchObject({ code: 0, out: expect.stringMatching(/^source: Success$/m) })
    expect(await ok('instance list --no-headers -o name')).not.toMatch(/^source$/m)
    expect(fs.existsSync(storageOf('node3', 'source'))).toBe(false)
    const { stdout } = await other.gnt('instance', 'list', '--no-headers', '-o', 'name,os,tags,status')
    expect(stdout.trim()).toMatch(/^source +gantry-tiny +db,web +running$/)
    expectWritten(diskFiles('node1', 'source', other))
  } finally {
    await other.remove()
  }
})

test('nothing of all this is left behind', () => {
  for (const node of ['node1', 'node2', 'node3']) {
    const run = path.join(cluster.root, `${node}.gantry.local/var/run/ganeti`)
    expect(fs.readdirSync(path.join(run, 'import-export'))).toEqual([])
  }
})

async function ok(words: string): Promise<string> {
  const { code, stdout, stderr } = await cluster.gnt(...words.split(' '))
  if (code !== 0) throw new Error(`gnt ${words}: exit code ${code}\n${stdout}\n${stderr}`)
  return stdout.trim()
}

/** Nodes without exports show a question mark. */
async function exports(): Promise<string[][]> {
  const lines = (await ok('backup list --no-headers --separator=,')).split('\n')
  return lines.map((line) => line.split(',')).filter(([, name]) => name !== '?')
}

const exportOf = (node: string, name: string): string =>
  path.join(cluster.root, `${node}.gantry.local/var/lib/ganeti/export`, name)
const certificateOf = ({ root }: EmbeddedCluster): string =>
  path.join(root, 'node1.gantry.local/var/lib/ganeti/rapi.pem')
const storageOf = (node: string, name: string, { root } = cluster): string =>
  path.join(root, `${node}.gantry.local/srv/ganeti/file-storage`, name)

/** In the order of the disks, by the number at their end. */
function diskFiles(node: string, name: string, of = cluster): string[] {
  const folder = storageOf(node, name, of)
  const files = fs.readdirSync(folder).sort((one, other) => one.slice(-1).localeCompare(other.slice(-1)))
  return files.map((file) => path.join(folder, file))
}

/** Buffers are compared by themselves: a difference of megabytes tells nobody anything. */
function expectWritten(files: readonly string[]): void {
  expect(files.map((file, index) => written[index]?.equals(fs.readFileSync(file)))).toEqual([true, true])
}

/** Data that cannot be compressed behind the boot sector, so that a wrong order or a lost piece would show. */
function fill(node: string, name: string): void {
  written = diskFiles(node, name).map((file) => {
    const data = fs.readFileSync(file)
    randomBytes(3_000_001).copy(data, 100_000)
    fs.writeFileSync(file, data)
    return data
  })
}

const reasoned = (op: WireOpCode): WireOpCode => ({ ...op, reason: [['gnt:test', '', 1]] })

interface Invitation {
  readonly disks: unknown[][]
  readonly x509_ca: string
}

/** Follows the log of the receiving job until it says where to send. */
async function remoteImport(id: number): Promise<Invitation> {
  let observed: number | null = null
  for (;;) {
    const change = await cluster.master.waitForJobChange(id, ['status'], null, observed, 30)
    if (change === 'nochange') continue
    const [[status], log]: [unknown[], LogEntry[]] = change
    const entry = log.find(([, , type]) => type === 'remote-import')
    if (entry !== undefined) return entry[3] as Invitation
    if (status === 'error') throw new Error('the receiving job failed')
    observed = log.reduce((last, [number]) => Math.max(last, number), observed ?? 0)
  }
}

async function ended(id: number): Promise<unknown> {
  let status: unknown = 'running'
  while (status !== 'success' && status !== 'error') {
    const change = await cluster.master.waitForJobChange(id, ['status'], [status], null, 30)
    if (change !== 'nochange') [[status]] = change
  }
  return status
}
