// Tags of each kind of object.
import { change } from '../../../../src/config/changes'
import { buildInstance, buildNode, buildNetwork, smallConfig } from '../../config/builders'
import { FakeCluster } from '../../../support/fake-cluster'

const base = smallConfig()
const instance = buildInstance(base, 1)
const network = buildNetwork(1)
const cluster = () =>
  new FakeCluster(base).given(
    change('addNode', buildNode(base, 2)),
    change('addNetwork', network),
    change('addInstance', instance, []),
  )

const tagsOf = (kind: string, name?: string) => ({ OP_ID: 'OP_TAGS_GET', kind, ...(name !== undefined && { name }) })

test.each([
  ['cluster', undefined, []],
  ['node', 'node2', [['node/00000000-0000-4000-8000-000003000002', 'exclusive']]],
  ['nodegroup', 'default', [[`nodegroup/${Object.keys(base.nodegroups)[0]}`, 'exclusive']]],
  ['instance', 'inst1', [['instance/inst1.example.com', 'exclusive']]],
  ['network', 'net1', [[`network/${network.uuid}`, 'exclusive']]],
])('tags of a %s are set under its lock, read and removed', async (kind, name, locks) => {
  const fake = cluster()
  const target = { kind, ...(name !== undefined && { name }) }
  expect(await fake.run('OP_TAGS_SET', { ...target, tags: ['b2', 'a1', 'a1'] })).toBeNull()
  expect(fake.lockRequests).toEqual([[['cluster/BGL', 'shared']], ...(locks.length > 0 ? [locks] : [])])
  expect(await fake.run(tagsOf(kind, name))).toEqual(['a1', 'b2'])
  expect(await fake.run('OP_TAGS_DEL', { ...target, tags: ['a1'] })).toBeNull()
  expect(await fake.run(tagsOf(kind, name))).toEqual(['b2'])
})

test('reading takes a shared lock only when asked to', async () => {
  const fake = cluster()
  await fake.run({ ...tagsOf('instance', 'inst1'), use_locking: true })
  expect(fake.lockRequests[1]).toEqual([['instance/inst1.example.com', 'shared']])
})

test.each([
  [{ OP_ID: 'OP_TAGS_SET', kind: 'cluster', tags: ['bad tag'] }, ['TagError', ['Tag contains invalid characters']]],
  [
    { OP_ID: 'OP_TAGS_DEL', kind: 'cluster', tags: ['nosuchtag'] },
    ['OpPrereqError', ["Tag(s) 'nosuchtag' not found", 'unknown_entity']],
  ],
  [
    { OP_ID: 'OP_TAGS_SET', kind: 'instance', name: 'nosuch', tags: ['x'] },
    ['OpPrereqError', ["Instance 'nosuch' not known", 'unknown_entity']],
  ],
  [
    { OP_ID: 'OP_TAGS_SET', kind: 'node', tags: ['x'] },
    ['OpPrereqError', ['Tags of a node need the name of the node', 'wrong_input']],
  ],
])('%j is refused', async (op, wire) => {
  const fake = cluster()
  const error: unknown = await fake.run(op).catch((reason: unknown) => reason)
  expect(error).toMatchObject({ wire: wire[0], args: wire[1] })
  expect(fake.changes).toEqual([])
})

test('a dry run changes nothing', async () => {
  const fake = cluster()
  expect(await fake.run('OP_TAGS_SET', { kind: 'cluster', tags: ['zz'], dry_run: true })).toBeNull()
  expect(fake.config.cluster.tags).toEqual([])
  expect(fake.log).toEqual([' - INFO: dry-run mode requested, not actually executing the operation'])
})

test('a search names each object by its path', async () => {
  const fake = cluster().given(
    change('addTags', 'cluster', '', ['env:test']),
    change('addTags', 'instance', instance.uuid, ['env:prod', 'other']),
    change('addTags', 'network', network.uuid, ['ENV:x']),
  )
  expect(await fake.run('OP_TAGS_SEARCH', { pattern: '^env' })).toEqual([
    ['/cluster', 'env:test'],
    ['/instances/inst1.example.com', 'env:prod'],
  ])
  await expect(fake.run('OP_TAGS_SEARCH', { pattern: '(' })).rejects.toMatchObject({
    args: [expect.stringMatching(/^Invalid search pattern '\(': /), 'wrong_input'],
  })
})
