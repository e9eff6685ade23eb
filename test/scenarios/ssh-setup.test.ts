// Keys as the cluster looks after them: a real SSH daemon for each of three virtual nodes, from gnt-cluster init to gnt-node remove.
import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import * as tls from 'node:tls'
import { type Paths, pathsOf } from '../../src/lib/paths'
import { parsePublicKeys } from '../../src/lib/ssh/keys'
import { certificateDigest } from '../../src/lib/tls'
import { PORT } from '../../src/model/constants/daemons'

const BIN = path.join(__dirname, '../../bin')
const SSHD = '/usr/sbin/sshd'
const PROGRAMS = ['ssh-update', 'prepare-node-join', 'node-daemon-setup']
const NODES = [1, 2, 3].map((number) => `node${number}.example.com`)
const [MASTER = '', SECOND = '', THIRD = ''] = NODES
const possible = fs.existsSync(SSHD) && process.getuid?.() === 0
const when = possible ? test : test.skip
if (!possible) test.skip('skipped, needs root and: apt-get install openssh-server openssh-client', () => undefined)

let directory: string
let base: string
let port: number
const sshDaemons = new Map<string, ChildProcess>()
const nodePaths = (name: string): Paths => pathsOf(path.join(directory, name), name)
const environment = (name: string) => ({
  ...process.env,
  ...{ GANETI_ROOTDIR: nodePaths(name).root, GANETI_HOSTNAME: name, GANTRY_HOME: directory },
})
const read = (file: string): string => fs.readFileSync(file, 'utf8')
const authorized = (name: string): string => read(nodePaths(name).local('/root/.ssh/authorized_keys'))
let keyType = 'rsa'
const ownKey = (name: string): string => read(nodePaths(name).local(`/root/.ssh/id_${keyType}.pub`)).trim()
const listed = (name: string): string[] =>
  [...parsePublicKeys(read(nodePaths(name).sshPublicKeys)).values()].flat().sort()

beforeAll(async () => {
  if (!possible) return
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'gs-'))
  base = `127.${randomInt(16, 250)}.${randomInt(0, 256)}`
  port = await freePort()
  fs.mkdirSync('/run/sshd', { recursive: true })
  const hosts = [...NODES.map((name, index) => `${base}.${index + 1} ${name}`), `${base}.254 cluster.example.com`]
  for (const name of NODES) {
    const { local } = nodePaths(name)
    for (const folder of ['/etc/ssh', '/etc/ganeti', '/usr/lib/ganeti', '/root/.ssh'])
      fs.mkdirSync(local(folder), { recursive: true })
    fs.writeFileSync(local('/etc/hosts'), hosts.join('\n') + '\n')
    fs.writeFileSync(local('/etc/ganeti/file-storage-paths'), '/srv/ganeti/file-storage\n')
    for (const program of PROGRAMS) fs.symlinkSync(path.join(BIN, 'gantryd.js'), local(`/usr/lib/ganeti/${program}`))
    execFileSync('ssh-keygen', ['-q', '-t', 'rsa', '-N', '', '-f', local('/etc/ssh/ssh_host_rsa_key')])
    await startSshDaemon(name)
  }
})
afterAll(async () => {
  for (const name of NODES) await stopNode(name)
  for (const child of sshDaemons.values()) child.kill('SIGTERM')
  if (possible) fs.rmSync(directory, { recursive: true, maxRetries: 20, retryDelay: 100 })
})

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function startSshDaemon(name: string): Promise<void> {
  const { local } = nodePaths(name)
  const settings = {
    ...{ ListenAddress: `${base}.${NODES.indexOf(name) + 1}`, Port: port, HostKey: local('/etc/ssh/ssh_host_rsa_key') },
    ...{ AuthorizedKeysFile: local('/root/.ssh/authorized_keys'), PasswordAuthentication: 'no', PidFile: 'none' },
    ...{ UsePAM: 'no', StrictModes: 'no', PermitRootLogin: 'prohibit-password', MaxStartups: 100 },
  }
  const file = local('/etc/ssh/sshd_config')
  fs.writeFileSync(
    file,
    Object.entries(settings)
      .map(([key, value]) => `${key} ${value}\n`)
      .join(''),
  )
  const child = spawn(SSHD, ['-D', '-e', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] })
  sshDaemons.set(name, child)
  await listening(child)
}

/** Waits until sshd listens. It prints this line again after it has read its host key again. */
async function listening({ stderr }: ChildProcess): Promise<void> {
  for (let said = ''; !said.includes('Server listening');)
    said += String((await once(stderr ?? process.stdin, 'data'))[0])
}

async function rereadHostKey(name: string): Promise<void> {
  const child = sshDaemons.get(name)
  if (child === undefined) throw new Error(`${name} has no SSH daemon`)
  child.kill('SIGHUP')
  await listening(child)
}

/** A daemon that was started over SSH is no child of this process. */
async function stopNode(name: string): Promise<void> {
  const file = nodePaths(name).pidFile('node')
  if (!fs.existsSync(file)) return
  const pid = Number(read(file))
  process.kill(pid, 'SIGTERM')
  while (fs.existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 50))
}

async function gnt(...words: string[]) {
  const child = spawn(process.execPath, [path.join(BIN, 'gnt.js'), ...words], {
    ...{ env: environment(MASTER), stdio: ['ignore', 'pipe', 'pipe'] as const },
  })
  const result = { code: -1, stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (result.stdout += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (result.stderr += chunk))
  const [code] = (await once(child, 'close')) as [number]
  return { ...result, code }
}

const done = { code: 0 }

/** The complaints of cluster verify about SSH. Others do not matter: the test takes a candidate out of the pool. */
async function problems(...options: string[]): Promise<string[]> {
  const { stdout, stderr } = await gnt('cluster', 'verify', ...options)
  return `${stdout}${stderr}`.split('\n').filter((line) => /(ERROR|WARNING|failed).*ssh/i.test(line))
}

async function addNode(name: string): Promise<void> {
  // As an administrator would do by hand: the master may log in.
  fs.writeFileSync(nodePaths(name).local('/root/.ssh/authorized_keys'), `# mine\n${ownKey(MASTER)}\n`)
  expect(await gnt('node', 'add', '--no-ssh-key-check', name)).toMatchObject(done)
  await rereadHostKey(name)
}

when('keys are made, spread, renewed and taken away', async () => {
  const init = `cluster init --enabled-hypervisors=fake --enabled-disk-templates=file,diskless --master-netdev=lo --node-parameters ssh_port=${port}`
  expect(await gnt(...init.split(' '), 'cluster.example.com')).toMatchObject({ code: 0, stderr: '' })
  expect(authorized(MASTER)).toBe(`${ownKey(MASTER)}\n`)
  expect(listed(MASTER)).toEqual([ownKey(MASTER)])
  const daemons = fork(path.join(BIN, 'gantryd.js'), ['node'], { env: environment(MASTER), stdio: 'ignore' })
  await once(daemons, 'message')

  // A node that nobody may log in to.
  const refused = await gnt('node', 'add', '--no-ssh-key-check', SECOND)
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`root must be able to log in to ${SECOND}`),
  })
  for (const name of [SECOND, THIRD]) await addNode(name)
  const all = NODES.map(ownKey).sort()
  for (const name of NODES) {
    expect(listed(name)).toEqual(all)
    expect(all.filter((key) => !authorized(name).includes(key))).toEqual([])
  }
  expect(authorized(THIRD)).toMatch(/^# mine\n/)
  expect(await problems('--verify-ssh-clutter')).toEqual([])

  // Only candidates may log in elsewhere.
  expect(await gnt('node', 'modify', '--master-candidate=no', '-f', THIRD)).toMatchObject(done)
  expect(NODES.map((name) => authorized(name).includes(ownKey(THIRD)))).toEqual([false, false, true])
  fs.appendFileSync(nodePaths(SECOND).local('/root/.ssh/authorized_keys'), `${ownKey(THIRD)}\n`)
  expect(await problems()).toEqual([expect.stringContaining(`A SSH key of normal node '${THIRD}'`)])
  expect(await gnt('node', 'modify', '--master-candidate=yes', THIRD)).toMatchObject(done)

  // While one node is away, and again when it is back.
  sshDaemons.get(THIRD)?.kill('SIGTERM')
  const renewed = await gnt('cluster', 'renew-crypto', '--new-ssh-keys', '-f')
  expect(renewed).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`SSH keys of node ${THIRD}: No new SSH key was made`),
  })
  expect(NODES.map((name) => all.includes(ownKey(name)))).toEqual([false, false, true])
  await startSshDaemon(THIRD)
  // Its master's new key is what it did not get.
  fs.appendFileSync(nodePaths(THIRD).local('/root/.ssh/authorized_keys'), `${ownKey(MASTER)}\n`)
  const other = 'cluster renew-crypto --new-ssh-keys --ssh-key-type ecdsa -f'.split(' ')
  expect(await gnt(...other)).toMatchObject({ code: 0, stderr: '' })
  keyType = 'ecdsa'
  expect(NODES.map(ownKey).filter((key) => !key.startsWith('ecdsa-'))).toEqual([])
  expect(await problems()).toEqual([])

  const stays = [MASTER, SECOND].map(ownKey).sort()
  expect(await gnt('node', 'remove', THIRD)).toMatchObject(done)
  expect(authorized(THIRD)).not.toContain(ownKey(MASTER))
  for (const name of [MASTER, SECOND]) {
    expect(authorized(name)).not.toContain(ownKey(THIRD))
    expect(listed(name)).toEqual(stays)
  }
  expect(await problems()).toEqual([])
})

async function servedCertificate(): Promise<string> {
  const socket = tls.connect({ host: `${base}.1`, port: PORT.rapi, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { fingerprint } = socket.getPeerCertificate()
  socket.destroy()
  return fingerprint
}

// The cluster of the test before, with two nodes.
when('certificates and secrets are renewed while all daemons run', async () => {
  const members = [MASTER, SECOND].map(nodePaths)
  const files = ({ rapiCert, hmacKey, domainSecret, clientCert }: Paths) => [
    rapiCert,
    hmacKey,
    domainSecret,
    clientCert,
  ]
  const before = members.map((paths) => files(paths).map(read))
  const all = '--new-rapi-certificate --new-confd-hmac-key --new-cluster-domain-secret --new-spice-certificate'
  const renewal = `cluster renew-crypto -f ${all} --new-node-certificates`
  expect(await gnt(...renewal.split(' '))).toMatchObject({ code: 0, stderr: '' })
  const after = members.map((paths) => files(paths).map(read))
  expect(after.flat().filter((text) => before.flat().includes(text))).toEqual([])
  expect(after[0]?.slice(0, 3)).toEqual(after[1]?.slice(0, 3))
  expect(await servedCertificate()).toBe(certificateDigest(after[0]?.[0] ?? ''))
  const digests = after.map(([, , , client = '']) => certificateDigest(client)).sort()
  for (const paths of members)
    expect(
      read(paths.ssconf('master_candidates_certs'))
        .match(/(?<==).+/g)
        ?.sort(),
    ).toEqual(digests)
  expect(await gnt('cluster', 'verify')).toMatchObject({ code: 0, stderr: '' })

  const own = members[0]?.rapiCert ?? ''
  const wrong = nodePaths(MASTER).local('/etc/hosts')
  for (const [options, text] of [
    ['', 'Select what to renew'],
    [`--rapi-certificate ${wrong}`, `Unable to load ${wrong}: it has no X509 certificate in PEM format`],
    [`--rapi-certificate ${own}.no`, 'ENOENT'],
    [`--new-rapi-certificate --rapi-certificate ${own}`, 'Only one of the --new-rapi-certificate and'],
    [`--spice-certificate ${own}`, 'Both --spice-certificate and --spice-ca-certificate must be specified.'],
  ] as const) {
    const refused = await gnt(...`cluster renew-crypto -f ${options}`.trim().split(' '))
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(text) })
  }
  expect(await gnt('cluster', 'renew-crypto', '-f', '--rapi-certificate', own)).toMatchObject(done)
})
