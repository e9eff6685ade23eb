// The programs that a master runs over SSH, with requests that are right and wrong; test/scenarios/ssh-setup.test.ts runs them for real.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { Readable } from 'node:stream'
import { runCommand } from '../../../src/lib/programs/run-command'
import { systemClock } from '../../../src/lib/clock'
import { type Paths, pathsOf } from '../../../src/lib/paths'
import { systemRandom } from '../../../src/lib/random'
import { createCertificate } from '../../../src/lib/tls'
import { belonging, ownedDisk } from '../../../src/model/owners'
import { runNodeProgram } from '../../../src/bootstrap/node-programs'

const KEY = 'ssh-rsa AAAAB3one= root@node1'
let directory: string
let paths: Paths
let started: number
let pem: string

beforeAll(async () => void (pem = await createCertificate()))
beforeEach(() => {
  started = 0
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'gp-'))
  paths = pathsOf(path.join(directory, 'node2'), 'node2')
  fs.mkdirSync(paths.dataDir, { recursive: true })
})
afterEach(() => fs.rmSync(directory, { recursive: true }))

function run(name: string, request: unknown, dryRun = false): Promise<void> {
  const text = typeof request === 'string' ? request : JSON.stringify(request)
  return runNodeProgram(name, dryRun, {
    ...{
      paths,
      disk: ownedDisk,
      clock: systemClock,
      random: systemRandom,
      run: runCommand,
      input: Readable.from([text]),
    },
    startNode: () => Promise.resolve(void started++),
  })
}

const certificate = () => pem.slice(pem.indexOf('-----BEGIN CERTIFICATE'))
const update = (more: object) => ({ cluster_name: 'c', node_daemon_certificate: certificate(), ...more })
const setup = (more: object) => ({
  ...{ cluster_name: 'c', node_daemon_certificate: pem, hmac_key: 'k', ssconf: { cluster_name: 'c' } },
  ...{ start_node_daemon: true, node_name: 'node2', ...more },
})
const list = () => fs.readFileSync(paths.sshPublicKeys, 'utf8')

test('each action on the list of public keys', async () => {
  await run('ssh-update', update({ public_keys: ['override', { a: [KEY], b: [`${KEY}2\n`] }] }))
  expect(list()).toBe(`a ${KEY}\nb ${KEY}2\n`)
  await run('ssh-update', update({ public_keys: ['add', { a: [`${KEY}3`, KEY] }] }))
  expect(list()).toBe(`a ${KEY}\na ${KEY}3\nb ${KEY}2\n`)
  await run('ssh-update', update({ public_keys: ['replace_or_add', { a: [KEY] }] }))
  expect(list()).toBe(`a ${KEY}\nb ${KEY}2\n`)
  await run('ssh-update', update({ public_keys: ['remove', { b: [] }] }))
  expect(list()).toBe(`a ${KEY}\n`)
  await run('ssh-update', update({ public_keys: ['clear', {}] }))
  expect(list()).toBe('')
})

test('a node that is to join gets what noded needs, and noded is started', async () => {
  await run('node-daemon-setup', setup({}), true)
  expect([started, fs.readdirSync(paths.dataDir)]).toEqual([0, []])
  await run('node-daemon-setup', setup({}))
  expect(fs.readFileSync(paths.serverCert, 'utf8')).toBe(pem)
  expect(fs.statSync(paths.serverCert).mode & 0o777).toBe(belonging(paths.serverCert)?.mode)
  expect(fs.readFileSync(paths.ssconf('cluster_name'), 'utf8')).toBe('c\n')
  expect([started, fs.existsSync(paths.clientCert)]).toEqual([1, true])
  // Once more, as for a node that is added again.
  await run('node-daemon-setup', setup({ start_node_daemon: false }))
  expect(started).toBe(1)
})

describe("a node's client certificate, which Ganeti's master renews", () => {
  const change = (action: string, more = {}) => ({
    ...{ cluster_name: 'c', node_daemon_certificate: pem, node_name: 'node2', action },
    ...more,
  })
  const client = () => fs.readFileSync(paths.clientCert, 'utf8')
  const digests = () => paths.ssconf('master_candidates_certs')

  test('is made anew, and signed by that of the cluster', async () => {
    await run('node-daemon-setup', setup({}))
    const before = client()
    await run('ssl-update', change('create'), true)
    expect(client()).toBe(before)
    await run('ssl-update', change('create'))
    const [made, server] = [new X509Certificate(client()), new X509Certificate(pem)]
    expect(made.fingerprint).not.toBe(new X509Certificate(before).fingerprint)
    expect([made.verify(server.publicKey), made.subject]).toEqual([true, 'CN=node2'])
    expect(made.checkPrivateKey(createPrivateKey(client()))).toBe(true)
    expect(fs.statSync(paths.clientCert).mode & 0o777).toBe(belonging(paths.clientCert)?.mode)
  })

  test('goes away with the list of all of them, also when it is not there', async () => {
    await run('node-daemon-setup', setup({}))
    fs.writeFileSync(digests(), 'u=AA:BB\n')
    for (let time = 0; time < 2; time++) {
      await run('ssl-update', change('delete'))
      expect([fs.existsSync(paths.clientCert), fs.existsSync(digests())]).toEqual([false, false])
    }
    expect(fs.readFileSync(paths.serverCert, 'utf8')).toBe(pem)
  })

  test('is not made for another cluster', async () => {
    await run('node-daemon-setup', setup({}))
    const other = { node_daemon_certificate: await createCertificate() }
    await expect(run('ssl-update', change('create', other))).rejects.toThrow('is of another cluster')
    await expect(run('ssl-update', change('delete', { cluster_name: 'd' }))).rejects.toThrow("in the cluster 'c'")
    expect(fs.existsSync(paths.clientCert)).toBe(true)
  })
})

describe('refused', () => {
  test.each([
    ['ssh-update', 'no json', 'The input is not JSON'],
    ['ssh-update', [], 'The input is not valid'],
    ['ssh-update', {}, 'Cluster name must be specified'],
    ['ssh-update', { cluster_name: 'c', nosuch: 1 }, 'Superfluous dictionary keys: ["nosuch"]'],
    ['ssh-update', { cluster_name: 'c', node_daemon_certificate: 'x' }, 'Unable to load certificate'],
    ['ssh-update', { cluster_name: 'c', authorized_keys: ['clear', {}] }, "'authorized_keys'"],
    ['ssh-update', { cluster_name: 'c', generate: ['rsa', 0, ''] }, "'generate'"],
    ['ssh-update', 'x'.repeat(5 << 20), 'The input is longer than'],
    ['prepare-node-join', { cluster_name: 'c', ssh_key_type: 'rsa' }, 'ssh_key_bits must be specified'],
    ['ssl-update', { cluster_name: 'c', node_name: 'a', action: 'create' }, 'certificate must be specified'],
    ['ssl-update', () => update({ node_name: 'a', action: 'create' }), 'Unable to load private key'],
    ['ssl-update', { cluster_name: 'c', node_name: 'a', action: 'get' }, "'action'"],
    ['ssl-update', () => ({ cluster_name: 'c', node_daemon_certificate: pem }), 'it is create or delete'],
    ['ssl-update', () => ({ cluster_name: 'c', node_daemon_certificate: pem, action: 'create' }), 'No hostname'],
    [
      'ssl-update',
      () => ({ cluster_name: 'c', node_daemon_certificate: pem, node_name: 'a', action: 'create' }),
      'it is in no cluster. Add it on the master with: gnt-node add a',
    ],
    ['node-daemon-setup', later({ node_daemon_certificate: undefined }), 'certificate must be specified'],
    ['node-daemon-setup', later({ hmac_key: undefined }), 'Hmac key must be provided'],
    ['node-daemon-setup', later({ ssconf: { cluster_name: 'other' } }), 'Cluster name in ssconf does not match'],
    ['node-daemon-setup', later({ ssconf: { cluster_name: 'c', '../x': '' } }), 'Not a key of ssconf: "../x"'],
  ])('%s: %.60j', async (name, request, text) => {
    const whole = typeof request === 'function' ? request() : request
    await expect(run(name, whole)).rejects.toThrow(text)
    expect([started, fs.readdirSync(paths.dataDir)]).toEqual([0, []])
  })

  test('a certificate without its key, or with another one', async () => {
    await expect(run('node-daemon-setup', setup({ node_daemon_certificate: certificate() }))).rejects.toThrow(
      'Unable to load private key',
    )
    const other = await createCertificate()
    const mixed = other.slice(0, other.indexOf('-----BEGIN CERTIFICATE')) + certificate()
    await expect(run('node-daemon-setup', setup({ node_daemon_certificate: mixed }))).rejects.toThrow(
      'Certificate is not signed with given key',
    )
  })

  test('another cluster', async () => {
    await run('node-daemon-setup', setup({}))
    await expect(run('ssh-update', { ...update({}), cluster_name: 'd' })).rejects.toThrow(
      "Cluster name is 'd', but this node is in the cluster 'c'",
    )
    const request = { cluster_name: 'c', node_daemon_certificate: await createCertificate() }
    await expect(run('ssh-update', request)).rejects.toThrow('is of another cluster')
  })
})

/** The certificate is not there yet where tests are listed. */
function later(more: object): () => object {
  return () => setup(more)
}

test('a machine that calls itself otherwise than the cluster does not join', async () => {
  paths = { ...paths, root: '' }
  await expect(run('node-daemon-setup', setup({ node_name: 'node2.example.com' }))).rejects.toThrow(
    "This node cannot join: the machine calls itself 'node2' (/etc/hostname), and the cluster 'node2.example.com': the daemons would " +
      'not know that they are meant. Let it have this name, with: hostnamectl set-hostname node2.example.com',
  )
  expect([started, fs.readdirSync(paths.dataDir)]).toEqual([0, []])
})
