// cfgupgrade on a directory: what it writes, what it keeps, and when it writes nothing.
import * as fs from 'node:fs'
import * as net from 'node:net'
import { once } from 'node:events'
import * as os from 'node:os'
import * as path from 'node:path'
import { convertConfig, type ConvertOptions } from '../../../src/bootstrap/convert-config'
import { readConfig } from '../../../src/config/store-files'
import { pathsOf, type Paths } from '../../../src/lib/paths'
import { seededRandom } from '../../../src/lib/random'
import { ownedDisk as disk } from '../../../src/model/owners'
import { clockAt } from '../../support/instant-clock'
import { FakeMaster } from '../../support/fake-master'
import { runCli } from '../../support/run-cli'

const recorded = (version: string) =>
  fs.readFileSync(path.join(__dirname, `../../data/config/cluster_config_${version}.json`), 'utf8')
const HOST = 'node1.example.com'
const NOW_S = 2_000_000_000

let folder: string
let paths: Paths
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gcu-'))
  paths = pathsOf(path.join(folder, HOST), HOST)
  for (const directory of [paths.dataDir, paths.socketDir]) fs.mkdirSync(directory, { recursive: true })
  fs.writeFileSync(paths.serverCert, 'pem')
  fs.writeFileSync(paths.ssconf('master_node'), `${HOST}\n`)
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

const convert = (options: Partial<ConvertOptions> = {}) =>
  convertConfig({
    ...{ paths, disk, random: seededRandom(5), clock: clockAt(NOW_S * 1000) },
    ...{ down: false, dryRun: false, verify: true, ignoreHostname: false, ...options },
  })
const put = (version: string) => fs.writeFileSync(paths.configFile, recorded(version))
const present = () => fs.readFileSync(paths.configFile, 'utf8')
const versionThere = () => (JSON.parse(present()) as { version: number }).version
const files = () => fs.readdirSync(paths.dataDir).sort()

test('a configuration is converted, the old file stays beside it, and our store reads the new one', async () => {
  put('2.16')
  const { from, to, backup, problems, notices } = await convert()
  expect({ from, to, problems }).toEqual({ from: '2.16', to: '3.1', problems: [] })
  expect(notices).not.toEqual([])
  expect(backup).toBe(`${paths.configFile}.backup-${NOW_S}`)
  expect(fs.readFileSync(String(backup), 'utf8')).toBe(recorded('2.16'))
  expect(fs.statSync(String(backup)).mode & 0o777).toBe(0o600)
  expect((await readConfig({ paths, disk, random: seededRandom(1) }))?.version).toBe(3010000)
  expect(await convert()).toMatchObject({ from: '3.1', to: '3.1', backup: undefined })
})

test.each<[string, { file: boolean; given?: string }, string]>([
  ['none of its own', { file: true }, '/etc/ganeti/vnc-cluster-password'],
  ['one of its own', { file: true, given: '/etc/own' }, '/etc/own'],
  ['none, and there is no old file', { file: false }, ''],
])('the one password of all screens becomes the default of hypervisors with screens: %s', async (_, has, expected) => {
  const config = JSON.parse(recorded('2.16')) as { cluster: { enabled_hypervisors: string[]; hvparams: Record<string, object> } } // prettier-ignore
  config.cluster.enabled_hypervisors = ['kvm', 'xen-hvm']
  config.cluster.hvparams['kvm'] = { ...config.cluster.hvparams['kvm'], vnc_password_file: has.given ?? '' }
  fs.writeFileSync(paths.configFile, JSON.stringify(config))
  const old = paths.local('/etc/ganeti/vnc-cluster-password')
  fs.mkdirSync(path.dirname(old), { recursive: true })
  if (has.file) fs.writeFileSync(old, 'secret\n')
  const { notices } = await convert()
  const after = JSON.parse(present()) as typeof config
  expect(after.cluster.hvparams).toMatchObject({
    kvm: { vnc_password_file: expected },
    'xen-hvm': { vnc_password_file: '/your/vnc-cluster-password' },
  })
  const reported = notices.filter((one) => one.includes('vnc_password_file'))
  expect(reported).toHaveLength(expected === '/etc/ganeti/vnc-cluster-password' ? 1 : 0)
})

test('a dry run finds out the same, and writes nothing', async () => {
  put('2.10')
  const before = files()
  expect(await convert({ dryRun: true })).toMatchObject({ from: '2.10', to: '3.1', backup: undefined, problems: [] })
  expect([files(), present()]).toEqual([before, recorded('2.10')])
})

test('3.1 goes down to 3.0, once, and others do not', async () => {
  put('3.1')
  expect(await convert({ down: true })).toMatchObject({ from: '3.1', to: '3.0' })
  expect(versionThere()).toBe(3000000)
  expect(await convert({ down: true })).toMatchObject({ from: '3.0', to: '3.0', backup: undefined })
  put('2.16')
  await expect(convert({ down: true })).rejects.toThrow('Only a configuration of 3.1 can be downgraded')
})

test.each<[string, (input: Paths) => void, string]>([
  ['no configuration', ({ configFile }) => fs.rmSync(configFile), 'there is no config.data'],
  ['no certificate', ({ serverCert }) => fs.rmSync(serverCert), 'there is no server.pem'],
  ['another master', (one) => fs.writeFileSync(one.ssconf('master_node'), 'node2\n'), 'The master is node2'],
  ['no JSON', ({ configFile }) => fs.writeFileSync(configFile, '{"version":'), 'is not JSON'],
  ['no version', ({ configFile }) => fs.writeFileSync(configFile, '{}'), 'does not say of which version it is'],
  ['an unknown version', (one) => fs.writeFileSync(one.configFile, '{"version":2060000}'), 'is of version 2.6'],
  [
    'changes in the journal',
    ({ journalFile }) => fs.writeFileSync(journalFile, '{}\n{}\n'),
    'run "gantryd fold" first',
  ],
])('%s: nothing is written', async (_, spoil, text) => {
  put('3.0')
  spoil(paths)
  const before = files()
  await expect(convert()).rejects.toThrow(text)
  expect(files()).toEqual(before)
})

test('while it works no daemon takes the file', async () => {
  put('3.0')
  const held: string[] = []
  const release = () => void held.pop()
  const lockFile = (file: string) => Promise.resolve(held.push(file) === 1 ? { release } : undefined)
  const whileWritten: string[][] = []
  const watched = { ...disk, write: (...args: Parameters<typeof disk.write>) => (whileWritten.push([...held]), disk.write(...args)) } // prettier-ignore
  expect(await convert({ disk: watched, lockFile })).toMatchObject({ to: '3.1' })
  expect([new Set(whileWritten.flat()), held]).toEqual([new Set([paths.configLock]), []])
  held.push('another one')
  await expect(convert({ lockFile, down: true })).rejects.toThrow('another process owns')
})

test('a wconfd that runs would write over it', async () => {
  put('3.0')
  const server = net.createServer((socket) => socket.end()).listen(paths.socket('wconfd'))
  await once(server, 'listening')
  await expect(convert()).rejects.toThrow('wconfd is running')
  // A copy elsewhere is nobody's.
  const directory = path.join(folder, 'copy')
  fs.cpSync(paths.dataDir, directory, { recursive: true })
  expect(await convert({ directory, ignoreHostname: true })).toMatchObject({ to: '3.1' })
  expect(versionThere()).toBe(3000000)
  server.close()
  await once(server, 'close')
})

test('objects that do not fit together are told, unless nobody wants to know', async () => {
  const config = JSON.parse(recorded('3.0')) as { cluster: Record<string, unknown> }
  config.cluster['candidate_certs'] = { nobody: 'digest' }
  fs.writeFileSync(paths.configFile, JSON.stringify(config))
  expect((await convert({ dryRun: true })).problems).toEqual([expect.stringContaining('unknown node nobody')])
  expect((await convert({ dryRun: true, verify: false })).problems).toEqual([])
})

describe('file-storage-paths', () => {
  const lists = () => path.join(folder, 'lists')
  const list = (directory: string) => path.join(directory, 'file-storage-paths')
  const LINES = '/srv/ganeti/file-storage\n/srv/ganeti/shared-file-storage\n'

  test('is written from the configuration where it is not there, and stays as it is where it is', async () => {
    put('2.16')
    const config = JSON.parse(present()) as { cluster: Record<string, unknown> }
    Object.assign(config.cluster, {
      file_storage_dir: '/srv/ganeti/file-storage',
      shared_file_storage_dir: '/srv/ganeti/shared-file-storage',
    })
    fs.writeFileSync(paths.configFile, JSON.stringify(config))
    const own = paths.local('/etc/ganeti')
    await convert({ dryRun: true })
    expect(fs.existsSync(own)).toBe(false)
    fs.mkdirSync(lists())
    const { notices } = await convert({ lists: lists() })
    expect(notices.join('\n')).toContain(
      'is not there, and gets these lines: /srv/ganeti/file-storage, /srv/ganeti/shared',
    )
    expect([fs.readFileSync(list(lists()), 'utf8'), fs.existsSync(own)]).toEqual([LINES, false])
    expect(fs.statSync(list(lists())).mode & 0o777).toBe(0o600)

    fs.writeFileSync(list(lists()), '/mine\n')
    fs.writeFileSync(paths.configFile, JSON.stringify(config))
    // A copy of a configuration does not change the node.
    const directory = path.join(folder, 'copy')
    fs.cpSync(paths.dataDir, directory, { recursive: true })
    await convert({ directory })
    expect(fs.existsSync(own)).toBe(false)
    await convert({ directory: paths.dataDir, lists: lists() })
    expect(fs.readFileSync(list(lists()), 'utf8')).toBe('/mine\n')
    fs.writeFileSync(paths.configFile, JSON.stringify(config))
    await convert()
    expect(fs.readFileSync(list(own), 'utf8')).toBe(LINES)
  })

  test('has to be in a directory', async () => {
    put('3.0')
    fs.writeFileSync(lists(), '')
    for (const wrong of [lists(), path.join(folder, 'nowhere')]) {
      await expect(convert({ lists: wrong })).rejects.toThrow(
        `--confdir is the directory of file-storage-paths, and ${wrong}`,
      )
      expect(versionThere()).toBe(3000000)
    }
    const { stderr } = await runCli(new FakeMaster(), ['cfgupgrade', '--force', '--confd'])
    expect(stderr).toContain('--confdir option requires 1 argument')
  })
})

test('nobody is there to agree: nothing is done', async () => {
  const { exit, questions } = await runCli(new FakeMaster(), ['cfgupgrade', '--downgrade'])
  expect({ exit, questions }).toEqual({ exit: 1, questions: [expect.stringContaining('DOWNGRADED to version 3.0')] })
})
