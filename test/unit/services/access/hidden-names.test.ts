// Texts for a token with a scope name nothing that it does not see.
import { change } from '../../../../src/config/changes'
import { OpPrereqError } from '../../../../src/model/errors'
import { Access } from '../../../../src/services/access/access'
import { tellingFor, toldError } from '../../../../src/services/access/hidden-names'
import { smallCluster } from '../../../support/fake-cluster'

const cluster = smallCluster()
const own = cluster.addInstance('vm1.test', 'node2.test', { admin_state: 'up' })
cluster.given(change('patchInstance', own.uuid, { tags: ['web'] }))
const hidden = cluster.addInstance('secret', 'node3.test', { admin_state: 'up' })
const identity = { user: 'u', token: 't', permissions: ['*'] }
const scoped = new Access(identity, { tags: ['web'], groups: [], permissions: ['*'] })
const telling = tellingFor(scoped, cluster.config)

test.each([
  [
    'largest free 3,072 MiB on node3.test, 4,096 needed',
    'largest free 3,072 MiB on (node outside of the scope), 4,096 needed',
  ],
  ['vm1.test is on node2.test.', 'vm1.test is on node2.test.'],
  ["instance 'secret' is in the way", "instance '(instance outside of the scope)' is in the way"],
  ['instances vm1.test, secret', 'instances vm1.test, (instance outside of the scope)'],
  ['a secret of its own', 'a secret of its own'],
  [`uuid ${hidden.uuid}`, 'uuid (instance outside of the scope)'],
  ['the group default', 'the group default'],
])('%s', (text, reported) => expect(telling(text, {})).toBe(reported))

test('every text in a value is told so, and keys and numbers stay', () => {
  const log = [[1, [0, 0], 'message', 'on node3.test'], { reason: ['node1.test'], free: 7 }, null]
  expect(telling(log, {})).toEqual([
    [1, [0, 0], 'message', 'on (node outside of the scope)'],
    { reason: ['(node outside of the scope)'], free: 7 },
    null,
  ])
})

test('words of the caller come back as they are', () =>
  expect(telling('Node node3.test not found', { pnode: 'node3.test' })).toBe('Node node3.test not found'))

test('a refusal keeps its class and its kind', () => {
  const error = toldError(telling, new OpPrereqError('node3.test is full', 'wrong_state'), [])
  expect(error).toBeInstanceOf(OpPrereqError)
  expect((error as OpPrereqError).toWire()).toEqual([
    'OpPrereqError',
    ['(node outside of the scope) is full', 'wrong_state'],
  ])
  expect((error as OpPrereqError).message).toBe('(node outside of the scope) is full')
})

test('who has no scope gets texts as they are', () => {
  const admin = tellingFor(new Access({ ...identity, token: null }, null), cluster.config)
  expect(admin('on node3.test', {})).toBe('on node3.test')
})
