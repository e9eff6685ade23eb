// Opcodes that answer questions of the query engine.
import type { QueryFilter } from '../../../../src/rpc/luxi/calls'
import { smallConfig } from '../../config/builders'
import { FakeCluster } from '../../../support/fake-cluster'

function cluster(): { fake: FakeCluster; asked: [what: string, fields: readonly string[], filter: QueryFilter][] } {
  const fake = new FakeCluster(smallConfig())
  const requested: [string, readonly string[], QueryFilter][] = []
  fake.queries = {
    async query(what, fields, filter) {
      requested.push([what, fields, filter])
      return {
        fields: fields.map((name) => ({ name, title: name, kind: 'text', doc: '' })),
        data: [fields.map((name) => [0, `the ${name}`])],
      }
    },
    queryFields: async (what) => ({ fields: [what] }),
  }
  return { fake, asked: requested }
}

test('OS definitions that are not for use are left out, unless one asks whether they are', async () => {
  const { fake, asked: requested } = cluster()
  expect(await fake.run('OP_OS_DIAGNOSE', { output_fields: ['name', 'variants'] })).toEqual([
    ['the name', 'the variants'],
  ])
  await fake.run('OP_OS_DIAGNOSE', { output_fields: ['name', 'valid', 'hidden', 'blacklisted'], names: ['a'] })
  expect(requested).toEqual([
    ['os', ['name', 'variants'], ['&', ['&', ['!', ['?', 'hidden']], ['!', ['?', 'blacklisted']], ['?', 'valid']]]],
    ['os', ['name', 'valid', 'hidden', 'blacklisted'], ['&', ['|', ['=', 'name', 'a']]]],
  ])
})

test('storage providers, queries and their fields are asked of the query engine', async () => {
  const { fake, asked: requested } = cluster()
  expect(await fake.run('OP_EXT_STORAGE_DIAGNOSE', { output_fields: ['name'] })).toEqual([['the name']])
  expect(requested).toEqual([['extstorage', ['name'], null]])
  expect(await fake.run('OP_QUERY', { what: 'os', fields: ['name'] })).toMatchObject({
    data: [[[0, 'the name']]],
  })
  expect(await fake.run('OP_QUERY_FIELDS', { what: 'cluster' })).toEqual({ fields: ['cluster'] })
  await expect(fake.run('OP_QUERY', { what: 'os', fields: ['name'], use_locking: true })).rejects.toMatchObject({
    args: ['Sync queries are not allowed', 'wrong_input'],
  })
  const locked = { OP_ID: 'OP_QUERY', what: 'cluster', fields: ['name'], use_locking: true }
  await expect(fake.run(locked)).rejects.toThrow('Can not use locking for cluster queries')
  expect(await fake.run('OP_QUERY_FIELDS', { what: 'os', fields: [] })).toEqual({ fields: [] })
})
