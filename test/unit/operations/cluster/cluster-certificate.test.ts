// Nodes with real certificates, which a renewal of the cluster's replaces in steps.
import { X509Certificate } from 'node:crypto'
import { change } from '../../../../src/config/changes'
import { readServerPem, writeServerPem } from '../../../../src/lib/server-pem'
import { certificateDigest, createCertificate, createClientCertificate } from '../../../../src/lib/tls'
import type { NodeTarget } from '../../../../src/rpc/node/client'
import type { UploadedFile } from '../../../../src/rpc/node/dicts'
import { FakeCluster } from '../../../support/fake-cluster'
import { clockAt } from '../../../support/instant-clock'
import { Killed } from '../../../support/job-surroundings'
import { buildNode, master, smallConfig } from '../../config/builders'

const SERVER = '/var/lib/ganeti/server.pem'
const base = smallConfig()
const others = [2, 3].map((number) => buildNode(base, number, { master_candidate: true }))
const members = [...others, master(base)]
const offline = buildNode(base, 4, { offline: true })
const renewal = { OP_ID: 'OP_CLUSTER_RENEW_CRYPTO', cluster_certificate: true }

interface Files {
  server: string
  client: string
  waiting: string
}

let files: Map<string, Files>
let fake: FakeCluster
let former: string
/** How many changes of files nodes still make before the job is killed. */
let left: number

const filesOf = ({ name }: { name: string }): Files => files.get(name) ?? { server: '', client: '', waiting: '' }

/** By the nodes' names, those that the former certificate has signed. */
let clients: Map<string, string>

// Keys take longer to make than all that is done with them.
beforeAll(async () => {
  former = await createCertificate()
  clients = new Map()
  for (const { name } of members) clients.set(name, await createClientCertificate(former, name))
})

beforeEach(start)

function start(): void {
  left = Infinity
  files = new Map()
  fake = new FakeCluster(base).given(...[...others, offline].map((node) => change('addNode', node)))
  for (const node of members) {
    const client = clients.get(node.name) ?? ''
    files.set(node.name, { server: former, client, waiting: '' })
    fake.given(change('addCandidateCert', node.uuid, certificateDigest(client)))
  }
  fake.files.set(SERVER, former)
  fake.clock = clockAt(Date.now())
  Object.assign(fake.answers, {
    upload_file: (node: NodeTarget, [file]: [UploadedFile]) => write(node, { server: file.content }),
    node_crypto_tokens: (node: NodeTarget, [[request]]: [[Request]]) => token(node, ...request),
    write_ssconf_files: () => null,
  })
}

type Request = [type: string, action: string, options: unknown]

function write(node: { name: string }, more: Partial<Files>): null {
  if (left-- <= 0) throw new Killed()
  files.set(node.name, { ...filesOf(node), ...more })
  if (node.name === master(base).name) fake.files.set(SERVER, filesOf(node).server)
  expect(strangers()).toEqual([])
  return null
}

async function token(node: NodeTarget, type: string, action: string, options: unknown) {
  const { server, waiting } = filesOf(node)
  const pem = action === 'install' ? waiting : await createClientCertificate(server, node.name)
  write(node, options !== null && action === 'create' ? { waiting: pem } : { client: pem })
  return [[type, certificateDigest(pem)]]
}

/** Pairs of nodes of which one does not trust what the other shows. */
function strangers(): string[] {
  const sides = members.map((node) => {
    const { server, client } = filesOf(node)
    const [displayed, ...others] = certificatesOf(server)
    return { name: node.name, shown: displayed, all: [displayed, ...others], client: certificate(client) }
  })
  return sides.flatMap((caller) =>
    sides.flatMap((callee) => {
      const knows = caller.all.some((one) => one?.fingerprint === callee.shown?.fingerprint)
      // As OpenSSL does it, the issuer is found by its name.
      const issuer = callee.all.find((one) => one?.subject === caller.client.issuer)
      return knows && issuer && caller.client.verify(issuer.publicKey) ? [] : [`${caller.name} -> ${callee.name}`]
    }),
  )
}

/** Parsing takes longer than all else, and each file is looked at many times. */
function once<T>(parse: (pem: string) => T): (pem: string) => T {
  const parsed = new Map<string, T>()
  return (pem) => {
    const known = parsed.get(pem) ?? parse(pem)
    parsed.set(pem, known)
    return known
  }
}

const certificate = once((pem) => new X509Certificate(pem))
const certificatesOf = once((pem) => {
  const { shown: displayed, next, trusted } = readServerPem(pem)
  return [displayed.certificate, ...(next ? [next.certificate] : []), ...trusted].map(certificate)
})

function expectRenewed(): void {
  const [first] = members.map((node) => filesOf(node).server)
  const { shown: displayed, next, trusted } = readServerPem(first ?? '')
  expect({ next, trusted }).toEqual({ next: undefined, trusted: [] })
  expect(former).not.toContain(displayed.certificate)
  for (const node of members) {
    expect(filesOf(node).server).toBe(first)
    expect(fake.config.cluster.candidate_certs[node.uuid]).toBe(certificateDigest(filesOf(node).client))
  }
  expect(Object.keys(fake.config.cluster.candidate_certs)).toHaveLength(members.length)
}

test('all nodes get the new certificate in steps between which all can talk, and offline ones are named', async () => {
  expect(await fake.run(renewal)).toBeNull()
  expectRenewed()
  expect(fake.log.join()).toContain(`Nodes that are offline do not get the new cluster certificate: ${offline.name}`)
  expect(fake.calls('upload_file').map(({ node }) => node)).not.toContain(offline.name)
})

test('one that was killed at any point goes on when it is repeated', async () => {
  // Three steps of three nodes, two client certificates, and that of the master, which waits before it is installed.
  for (let alive = 0; alive < 13; alive++) {
    start()
    left = alive
    await expect(fake.run(renewal)).rejects.toThrow(Killed)
    const observed = fake.files.get(SERVER) ?? ''
    left = Infinity
    expect(await fake.run(renewal)).toBeNull()
    expectRenewed()
    const { next, shown: displayed } = readServerPem(observed)
    // If the master had begun with a certificate, all nodes have that one in the end.
    const begun = next ?? (observed === former ? undefined : displayed)
    if (begun !== undefined) expect(fake.files.get(SERVER)).toContain(begun.certificate)
    expect([alive, fake.log.some((line) => line.includes('interrupted'))]).toEqual([alive, alive > 2])
  }
})

test('a node that does not answer holds it up: the former one stays trusted until it does', async () => {
  const { upload_file } = fake.answers
  fake.answers.upload_file = (node, args) => {
    if (node.name === others[1]?.name) throw new Error('no route')
    return upload_file?.(node, args) ?? null
  }
  await expect(fake.run(renewal)).rejects.toThrow(/^Not all nodes trust .*: node3.example.com: no route. .* repeat /)
  expect(fake.files.get(SERVER)).toBe(former)
  Object.assign(fake.answers, { upload_file })
  const { node_crypto_tokens } = fake.answers
  fake.answers.node_crypto_tokens = (node, args) => {
    if (node.name === others[0]?.name) throw new Error('busy')
    return node_crypto_tokens?.(node, args) ?? []
  }
  await expect(fake.run(renewal)).rejects.toThrow('trusted until all client certificates are renewed')
  expect(readServerPem(fake.files.get(SERVER) ?? '').trusted).toHaveLength(1)
  Object.assign(fake.answers, { node_crypto_tokens })
  await fake.run(renewal)
  expectRenewed()
})

test('a file that has no certificate is not replaced', async () => {
  fake.files.set(SERVER, 'garbage')
  await expect(fake.run(renewal)).rejects.toThrow(
    'server.pem cannot be used: there is no certificate with its private key',
  )
  fake.files.delete(SERVER)
  await expect(fake.run(renewal)).rejects.toThrow('The master has no /var/lib/ganeti/server.pem')
  expect(fake.calls('upload_file')).toEqual([])
})

test('a file is read as it is written', async () => {
  const [displayed, next, trusted] = (await Promise.all([1, 2, 3].map(() => createCertificate()))).map(
    (pem) => readServerPem(pem).shown,
  )
  if (displayed === undefined || next === undefined || trusted === undefined) throw new Error('no certificates')
  const pem = { shown: displayed, next, trusted: [trusted.certificate] }
  expect(readServerPem(writeServerPem(pem))).toEqual(pem)
})
