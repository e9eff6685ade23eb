// Jobs that jobs submit may do no more than who submitted the first.
import type { JobQueue } from '../../../../src/jobs/queue'
import { permissionsOf } from '../../../../src/model/permissions'
import type { WireOpCode } from '../../../../src/rpc/luxi/calls'
import type { TokenScope } from '../../../../src/rpc/luxi/gantry'
import { Access } from '../../../../src/services/access/access'
import type { JobService } from '../../../../src/services/jobs/jobs'
import type { MasterContext } from '../../../../src/services/master-context'
import type { Plans } from '../../../../src/services/jobs/plans'
import { checkSubmitted } from '../../../../src/services/jobs/authorize-start'
import { Submissions } from '../../../../src/services/jobs/submissions'
import { clockAt } from '../../../support/instant-clock'
import { goldenConfig } from '../../../support/golden-query'

const config = goldenConfig()
const node = Object.values(config.nodes).find(({ tags }) => tags.length > 0)
const outside = Object.values(config.instances).find(({ tags }) => tags.length === 0)
const inside = Object.values(config.instances).find(({ tags }) => tags.length > 0)

/** The opcode as its job has it that this user, maybe with a token, has submitted. */
async function submitted(op: WireOpCode, permissions: string[], scope: TokenScope | null = null): Promise<WireOpCode> {
  const jobs: WireOpCode[] = []
  const noJobs: Partial<JobQueue> = {}
  const noPlans: Partial<Plans> = {}
  const context: Partial<MasterContext> = { config: () => config, clock: clockAt(1e12), queue: noJobs as JobQueue }
  const queue: Partial<JobService> = { submit: async (ops) => jobs.push(...ops) }
  const submissions = new Submissions(context as MasterContext, queue as JobService, noPlans as Plans)
  const access = new Access({ user: 'anna', token: scope && 't', permissions }, scope)
  await submissions.submit(access, { ops: [op], reason: null, key: null, digest: '', match: [], plan: null })
  const [first] = jobs
  if (first === undefined) throw new Error('nothing was submitted')
  return first
}

const wconfd = { gantryRead: async () => config }
const migrateNode = { OP_ID: 'OP_NODE_MIGRATE', node_name: node?.name }
const migrate = (instance = outside) => [{ OP_ID: 'OP_INSTANCE_MIGRATE', instance_name: instance?.name }]

test('a job that another job submits needs the permission of its user for each instance', async () => {
  const op = await submitted(migrateNode, ['nodes.*', 'instances.query'])
  await expect(checkSubmitted(op, [migrate()], wconfd)).rejects.toThrow(
    `OP_INSTANCE_MIGRATE of instance ${outside?.name} needs the permission instances.migrate`,
  )
  const failover = [{ OP_ID: 'OP_INSTANCE_MIGRATE', instance_name: outside?.name, allow_failover: true }]
  const operator = await submitted(migrateNode, ['nodes.*', 'instances.migrate'])
  await expect(checkSubmitted(operator, [migrate()], wconfd)).resolves.toBeUndefined()
  await expect(checkSubmitted(operator, [migrate(), failover], wconfd)).rejects.toThrow('instances.failover')
  const all = await submitted(migrateNode, permissionsOf(['@admin']))
  await expect(checkSubmitted(all, [migrate(), failover], wconfd)).resolves.toBeUndefined()
})

test('a token has what it says, for the instances that it covers', async () => {
  const scope = { tags: [], groups: [], permissions: ['nodes.*'] }
  const narrow = await submitted(migrateNode, ['*'], scope)
  await expect(checkSubmitted(narrow, [migrate()], wconfd)).rejects.toThrow(
    'instances.migrate, which the token does not have',
  )
  const tags = [...(node?.tags ?? []), ...(inside?.tags ?? [])]
  const tagged = await submitted(migrateNode, ['*'], { tags, groups: [], permissions: ['*'] })
  await expect(checkSubmitted(tagged, [migrate(inside)], wconfd)).resolves.toBeUndefined()
  await expect(checkSubmitted(tagged, [migrate(inside), migrate()], wconfd)).rejects.toThrow(
    'an object of this request is outside the scope of the token',
  )
})

test('a job that a job submits is bound by the same, and one from the command line by nothing', async () => {
  const dummy = await submitted({ OP_ID: 'OP_TEST_DUMMY' }, ['tests.*', 'nodes.*'])
  await expect(checkSubmitted(dummy, [[{ OP_ID: 'OP_CLUSTER_DESTROY' }]], wconfd)).rejects.toThrow('cluster.destroy')
  const trail: readonly unknown[] = Array.isArray(dummy['reason']) ? dummy['reason'] : []
  const inherited = { ...migrateNode, reason: [...trail, ['gnt:opcode:test_dummy', 'job=7;index=0', 1]] }
  await expect(checkSubmitted(inherited, [migrate()], wconfd)).rejects.toThrow('instances.migrate')
  await expect(checkSubmitted(migrateNode, [migrate()], wconfd)).resolves.toBeUndefined()
})
