// confd, LUXI and the remote API tell the same of one snapshot: they ask the same service, each in its own format.
import { ConfigQuestions } from '../../../src/config/questions'
import { place } from '../../../src/config/edit'
import { answerTo } from '../../../src/daemons/confd/answers'
import type { ConfigData } from '../../../src/model/config'
import { NODE_ROLE } from '../../../src/model/constants/words'
import { runQuery } from '../../../src/query/engine'
import { CONFD, CONFD_ROLE, type ConfdQuery, type ConfdQuestion } from '../../../src/rpc/confd/protocol'
import { goldenConfig, goldenSource } from '../../support/golden-query'

/** With one node of each role. */
function config(): ConfigData {
  const golden = goldenConfig()
  const others = Object.values(golden.nodes).filter(({ uuid }) => uuid !== golden.cluster.master_node)
  const roles = [{ offline: true }, { drained: true }, {}].map((flags) => ({ master_candidate: false, ...flags }))
  return roles.reduce((now, flags, n) => {
    const node = others[n]
    return node === undefined ? now : place(now, 'nodes', node.uuid, { ...node, ...flags })
  }, golden)
}

const snapshot = config()
const rows = async (what: 'node' | 'instance', ...fields: string[]) => {
  const { data } = await runQuery(what, fields, null, { ...goldenSource(), config: snapshot })
  return data.map((row) => row.map((cell) => (Array.isArray(cell) ? cell[1] : undefined)))
}
const confd = (question: ConfdQuestion, query: ConfdQuery) =>
  answerTo({ questions: new ConfigQuestions(snapshot), gantry: { sections: {} } }, { question, query }).answer

test('the role of each node', async () => {
  const reported = await rows('node', 'name', 'role')
  const letters = new Map(Object.entries(CONFD_ROLE).map(([name, number]) => [number, NODE_ROLE[name as keyof typeof NODE_ROLE]])) // prettier-ignore
  expect(new Set(reported.map(([, role]) => role)).size).toBe(4)
  for (const [name, role] of reported) expect(letters.get(Number(confd(CONFD.nodeRole, String(name))) as 0)).toBe(role)
})

test('the instances of each node, and their disks', async () => {
  for (const [name, primary, secondary] of await rows('node', 'name', 'pinst_list', 'sinst_list')) {
    const reported = confd(CONFD.nodeInstances, String(name)) as { name: string }[][]
    expect(reported.map((some) => some.map((one) => one.name).sort())).toEqual(
      [primary, secondary].map((some) => [...(some as string[])].sort()),
    )
  }
  for (const [name, sizes] of await rows('instance', 'name', 'disk.sizes'))
    expect((confd(CONFD.instanceDisks, String(name)) as { size: number }[]).map(({ size }) => size)).toEqual(sizes)
})

test('the addresses of nodes, and the node of an address of an instance', async () => {
  const nodes = await rows('node', 'name', 'pip')
  expect([...(confd(CONFD.nodeIps, null) as string[])].sort()).toEqual(nodes.map(([, ip]) => ip).sort())
  const instances = await rows('instance', 'pnode', 'nic.ips', 'nic.links')
  for (const [node, ips, links] of instances)
    for (const [at, ip] of (ips as (string | null)[]).entries()) {
      if (ip === null) continue
      const query = { link: (links as string[])[at], ip, ips: [], fields: [] }
      expect(confd(CONFD.nodeOfInstanceIp, query)).toBe(nodes.find(([name]) => name === node)?.[1])
    }
})
