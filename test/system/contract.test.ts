// The contract checked from outside: random requests that follow it, at every operation of a whole cluster. Nothing fails inside, nothing
// hangs, and no answer is one that the contract does not describe. A failure prints its seed.
import fc from 'fast-check'
import { Agent, request } from 'undici'
import { Contract, type ContractOperation, type ContractRequest } from '../support/contract'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { checkProperty } from '../support/effort'

const agent = new Agent({ connect: { rejectUnauthorized: false } })
let cluster: EmbeddedCluster

beforeAll(async () => {
  cluster = await startCluster(['--hypervisor', 'fake'])
  const made = await cluster.run({
    ...{ OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'vm1', mode: 'create', disk_template: 'diskless', disks: [] },
    ...{ nics: [], os_type: 'gantry-tiny', no_install: true, start: true, pnode: 'node1.gantry.local' },
  })
  expect(made.status).toBe('success')
  const network = { OP_ID: 'OP_NETWORK_ADD', network_name: 'net1', network: '10.1.0.0/24' }
  expect(await cluster.run(network)).toMatchObject({ status: 'success' })
  // Random jobs must not destroy the cluster, so all jobs are held, except those that a request waits for.
  const waited = ['OP_OS_DIAGNOSE', 'OP_CLUSTER_BALANCE', 'OP_CLUSTER_CAPACITY'].map((id) => ['=', 'OP_ID', id])
  const held = [['opcode', ['!', ['|', ...waited]]]]
  const rule = { priority: 0, predicates: held, action: 'PAUSE', reason: [] }
  expect(await cluster.rapi('POST', '/2/filters', rule)).toMatchObject({ status: 200 })
})

afterAll(async () => {
  await agent.close()
  await cluster.remove()
})

const contract = new Contract('rapi')
const names = ['vm1', 'node1.gantry.local', 'default', 'net1', 'cluster', 'instance', 'node', 'job']

test.each(contract.operations.map((operation) => [operation.verb, operation.url, operation] as const))(
  '%s %s answers random requests as the contract says',
  async (_verb, _url, operation) => {
    const property = fc.asyncProperty(contract.requestsFor(operation, names), (sent) => check(operation, sent))
    await checkProperty(property, { numRuns: 8, endOnFailure: true, includeErrorInReport: true })
  },
)

async function check(operation: ContractOperation, { path, body }: ContractRequest): Promise<void> {
  const { status, type, text } = await ask(operation.verb, path, body)
  // A queue that takes no jobs would refuse what other requests submit.
  if (operation.url === '/3/queue/drained') await cluster.master.setDrainFlag(false)
  if (status >= 500 && !isGanetis(operation.url, text)) throw new Error(`${status}: ${text}`)
  expect(contract.complaintOf(operation, status, type, text)).toBe(undefined)
}

/** Recordings show that Ganeti blames itself for these mistakes of its clients, or has nothing better to say. */
function isGanetis(url: string, text: string): boolean {
  if (!url.startsWith('/2/')) return false
  return GANETIS.some((part) => text.includes(part))
}

const GANETIS = [
  'Sync queries are not allowed',
  'Failed to parse request',
  'Instance console unavailable',
  '&#x27;ItemTypeOpCode QRCluster&#x27; not supported',
  '&#x27;unknown_entity&#x27;)',
]

async function ask(method: string, path: string, body: unknown) {
  const answer = await request(cluster.url + path, {
    ...{ method: method as 'GET', dispatcher: agent, body: body === undefined ? undefined : JSON.stringify(body) },
    headers: { authorization: basic(), ...(body !== undefined && { 'content-type': 'application/json' }) },
    // Nothing waits longer than Ganeti's wait for a job's change, but the machine may have more to do.
    signal: AbortSignal.timeout(60_000),
  })
  const type = String(answer.headers['content-type'] ?? '')
  if (!type.startsWith('text/event-stream')) return { status: answer.statusCode, type, text: await answer.body.text() }
  answer.body.on('error', () => undefined).destroy()
  return { status: answer.statusCode, type, text: '' }
}

const basic = (): string => `Basic ${Buffer.from(`admin:${cluster.password}`).toString('base64')}`
