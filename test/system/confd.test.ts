// Master candidates that answer signed questions, with real daemons: they follow changes and their nodes' places, go on when the master
// does not answer, and one that has missed changes is outvoted.
import * as fs from 'node:fs'
import * as path from 'node:path'
import type { CandidateReply } from '../../src/rpc/confd/client'
import { CONFD } from '../../src/rpc/confd/protocol'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { confdClient, eventually, nodeAddress, NODES, processesOf } from '../support/faults'

let cluster: EmbeddedCluster
const warnings: string[] = []
beforeAll(async () => {
  cluster = await startCluster(['--hypervisor', 'fake'])
})
afterAll(() => cluster.remove())

const addressOf = (node: number) => nodeAddress(cluster, node - 1)
const client = (...nodes: number[]) => confdClient(cluster, nodes.map(addressOf), warnings)
const TAGS = '/cluster/tags'
const say = async (nodes: number[], desired: (replies: readonly CandidateReply[]) => boolean) =>
  eventually(`candidates ${nodes.join()}`, async () => desired(await client(...nodes).askAll(CONFD.configQuery, TAGS)))
const all = (nodes: number[], tags: readonly string[]) =>
  say(nodes, (replies) => {
    const [first] = replies
    const same = replies.every(({ serial, answer }) => serial === first?.serial && String(answer) === String(tags))
    return replies.length === nodes.length && same
  })
const tag = async (name: string) =>
  expect(await cluster.run({ OP_ID: 'OP_TAGS_SET', kind: 'cluster', name: null, tags: [name] })).toMatchObject({
    status: 'success',
  })

function signal(node: number, roles: readonly string[], name: NodeJS.Signals): void {
  for (const { pid, role, node: at } of processesOf(cluster.root))
    if (at === NODES[node - 1] && roles.includes(role)) process.kill(pid, name)
}

test('every candidate follows the changes, and the command asks all of them', async () => {
  await all([1, 2, 3], [])
  await tag('x1')
  await all([1, 2, 3], ['x1'])
  expect(await cluster.gnt('debug', 'confd', 'config', TAGS)).toMatchObject({ stdout: 'Answer: ["x1"]\n', stderr: '' })
  expect(await cluster.gnt('debug', 'confd', 'nodedrbd', 'nosuch')).toMatchObject({
    ...{ code: 1, stderr: expect.stringContaining('Node name nosuch not found') as string },
  })
  const listed = JSON.parse((await cluster.gnt('debug', 'confd', '--json', 'master')).stdout) as { server: string }[]
  expect(listed.map(({ server }) => server).sort()).toEqual([addressOf(1), addressOf(2), addressOf(3)])
})

test('a node that is no candidate any more is silent, and answers when it is one again', async () => {
  const pid = path.join(cluster.root, NODES[2] ?? '', 'var/run/ganeti/ganeti-confd.pid')
  expect(await cluster.gnt('node', 'modify', '--force', '-C', 'no', 'node3')).toMatchObject({ code: 0 })
  await eventually('confd of node3 ends', () => !fs.existsSync(pid))
  await tag('x2')
  expect(await cluster.gnt('node', 'modify', '-C', 'yes', 'node3')).toMatchObject({ code: 0 })
  await all([1, 2, 3], ['x1', 'x2'])
})

test('one that has missed changes is outvoted and named, and catches up', async () => {
  signal(3, ['noded'], 'SIGSTOP')
  try {
    await tag('x3')
    await all([1, 2], ['x1', 'x2', 'x3'])
    expect(await client(3).ask(CONFD.configQuery, TAGS)).toEqual(['x1', 'x2'])
    warnings.splice(0)
    expect(await client(3, 2, 1).ask(CONFD.configQuery, TAGS)).toEqual(['x1', 'x2', 'x3'])
    expect(warnings).toEqual([expect.stringMatching(`disagree: .* is believed, and ${addressOf(3)} .* says something`)])
  } finally {
    signal(3, ['noded'], 'SIGCONT')
  }
  await all([1, 2, 3], ['x1', 'x2', 'x3'])
})

test('without the master the other candidates answer with what they have', async () => {
  const before = await client(2).askAll(CONFD.configQuery, TAGS)
  const roles = ['node', 'noded', 'confd', 'wconfd', 'luxid', 'rapi']
  signal(1, roles, 'SIGSTOP')
  try {
    const replies = await client(1, 2, 3).askAll(CONFD.configQuery, TAGS)
    expect(replies.map(({ server }) => server).sort()).toEqual([addressOf(2), addressOf(3)])
    expect(new Set(replies.map(({ serial }) => serial))).toEqual(new Set(before.map(({ serial }) => serial)))
    expect(await client(1, 2, 3).ask(CONFD.clusterMaster, null)).toBe(NODES[0])
  } finally {
    signal(1, roles, 'SIGCONT')
  }
  // Nor does it need its own node daemon, from which it learns of changes.
  signal(2, ['noded'], 'SIGKILL')
  expect(await client(2).ask(CONFD.configQuery, TAGS)).toEqual(['x1', 'x2', 'x3'])
  signal(2, ['confd'], 'SIGKILL')
  await tag('x4')
  await all([1, 2, 3], ['x1', 'x2', 'x3', 'x4'])
})

test('a new key counts without a restart', async () => {
  expect(await cluster.gnt('cluster', 'renew-crypto', '-f', '--new-confd-hmac-key')).toMatchObject({ code: 0 })
  await all([1, 2, 3], ['x1', 'x2', 'x3', 'x4'])
})
