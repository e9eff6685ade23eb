// A plan tells a token only of what the token knows.
import { change } from '../../../../src/config/changes'
import { Access } from '../../../../src/services/access/access'
import { plannedFor } from '../../../../src/services/jobs/plan-visibility'
import { smallCluster } from '../../../support/fake-cluster'

const cluster = smallCluster()
const instance = cluster.addInstance('vm1.test', 'node2.test', { admin_state: 'up' })
cluster.given(change('patchInstance', instance.uuid, { tags: ['web'] }))
cluster.addInstance('vm2.test', 'node2.test', { admin_state: 'up' })
const token = (tags: string[]) =>
  new Access({ user: 'u', token: 't', permissions: ['*'] }, { tags, groups: [], permissions: ['*'] })

test('a plan names no nodes, locks and changes beyond what the token knows', async () => {
  const [planned] = await cluster.plan({ OP_ID: 'OP_INSTANCE_SHUTDOWN', instance_name: 'vm1.test' })
  if (planned === undefined) throw new Error('there is no plan')
  expect(planned.opcode.hooks?.pre).toContain('node1.test')
  const reported = plannedFor(token(['web']), cluster.config, [])(planned)
  expect(JSON.stringify(reported)).not.toMatch(/node[13]\.test/)
  expect(reported).toMatchObject({
    locks: [{ lock: 'cluster/BGL' }, { lock: 'instance/vm1.test' }, { lock: 'node-res/node2.test' }],
    hooks: { pre: ['node2.test'], post: ['node2.test'] },
    changes: [{ name: 'vm1.test' }],
    node_calls: [{ node: 'node2.test' }],
  })
  const nothing = plannedFor(token(['other']), cluster.config, [])(planned)
  expect(nothing).toMatchObject({ locks: [{ lock: 'cluster/BGL' }], changes: [], node_calls: [] })
})

test('a node that is not known stays a condition without a name, and jobs for hidden instances are not told', async () => {
  const [planned] = await cluster.plan({ OP_ID: 'OP_INSTANCE_SHUTDOWN', instance_name: 'vm1.test' })
  if (planned === undefined) throw new Error('there is no plan')
  const condition = { what: 'Node node3.test answers', passed: false, reason: 'node3.test is down', code: null }
  const startup = (name: string) => ({ OP_ID: 'OP_INSTANCE_STARTUP', instance_name: name })
  const reported = plannedFor(
    token(['web']),
    cluster.config,
    [],
  )({
    ...planned,
    opcode: { ...planned.opcode, prerequisites: [{ ...condition, node: 'node3.test' }] },
    submits: [[startup('vm1.test'), startup('vm2.test')]],
  })
  expect(reported.prerequisites).toMatchObject([{ passed: false, node: null }])
  expect(JSON.stringify(reported)).not.toMatch(/node3|vm2/)
  expect(reported.jobs).toEqual([['INSTANCE_STARTUP(vm1.test)']])
})

test('the texts of units do not name what is not known either', async () => {
  const op = { OP_ID: 'OP_INSTANCE_STARTUP', instance_name: 'vm1.test' }
  const [planned] = await cluster.plan(op)
  if (planned === undefined) throw new Error('there is no plan')
  const reason = 'would leave no room (also without it, if node3.test of group default dies)'
  const reported = plannedFor(token(['web']), cluster.config, [op])({
    ...planned,
    opcode: {
      ...planned.opcode,
      prerequisites: [{ what: 'There is a node', passed: false, reason, code: null, node: null }],
      messages: ['node1.test refused vm1.test'],
    },
  })
  expect(reported.prerequisites[0]?.reason).toBe(
    'would leave no room (also without it, if (node outside of the scope) of group default dies)',
  )
  expect(reported.messages).toEqual(['(node outside of the scope) refused vm1.test'])
})
