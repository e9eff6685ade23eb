// The list of exports, page by page.
import { recordValues } from '../../../../src/config/records'
import { niceSort } from '../../../../src/model/nice-sort'
import type { ViewPage, ViewRequest } from '../../../../src/rpc/luxi/gantry'
import { Access } from '../../../../src/services/access/access'
import { NodeCache } from '../../../../src/services/live-data/node-cache'
import { view } from '../../../../src/services/views/views'
import { goldenSource } from '../../../support/golden-query'
import { SteppedClock } from '../../../support/stepped-clock'

const source = goldenSource()
const online = niceSort(recordValues(source.config.nodes).flatMap(({ name, offline }) => (offline ? [] : [name])))
const [first = '', second = '', silent = ''] = online
for (const name of online) source.live.recorded.exports[name] = []
source.live.recorded.exports[first] = ['inst10', 'inst2.gnt.example', 'inst1.gnt.example']
source.live.recorded.exports[second] = ['inst2.gnt.example']
source.live.down.add(silent)

const identity = { user: 'u', token: 't', permissions: ['*'] }
const everything = new Access(identity, null)

function ask(more: Partial<ViewRequest>, access = everything): Promise<ViewPage> {
  const whole = { what: 'export', name: null, fields: ['node', 'export'], filter: ['!=', 'node', 'x'], after: null }
  const request = { ...whole, limit: 100, known: true, sort: null, ...more } as ViewRequest
  return view(access, request, source, new NodeCache(new SteppedClock()))
}

const reported = [
  [first, 'inst1.gnt.example'],
  [first, 'inst2.gnt.example'],
  [first, 'inst10'],
  [second, 'inst2.gnt.example'],
]

test('exports are in the order of their nodes and names, and a node that does not tell has one row without', async () => {
  const { rows, next } = await ask({})
  expect(next).toBeNull()
  expect(rows.filter(([, name]) => name !== null)).toEqual(reported)
  expect(rows).toContainEqual([silent, null])
})

test('pages follow each other without gap, also where names are the same on several nodes', async () => {
  const { rows: all } = await ask({})
  const observed: unknown[] = []
  for (let after: string | null = null, pages = 0; pages < all.length; pages++) {
    const page = await ask({ limit: 1, after })
    observed.push(...page.rows)
    after = page.next
  }
  expect(observed).toEqual(all)
})

test('a filter chooses, and fields are those that were asked for', async () => {
  const { rows } = await ask({ filter: ['==', 'export', 'inst2.gnt.example'], fields: ['node'] })
  // The silent node may have the wanted export.
  expect(rows).toEqual([[first], [second], [silent]])
  await expect(ask({ fields: ['nosuch'] })).rejects.toThrow('Unknown fields of export: nosuch')
  await expect(ask({ name: 'inst2.gnt.example' })).rejects.toThrow('There is no view of export')
})

test('it takes a permission, and a token with a scope sees the exports of its instances', async () => {
  const reader = new Access({ ...identity, permissions: ['nodes.*'] }, null)
  await expect(ask({}, reader)).rejects.toThrow('this needs the permission exports.list')
  const [instance] = recordValues(source.config.instances).filter(({ name }) => name === 'inst2.gnt.example')
  const group = source.config.nodes[instance?.primary_node ?? '']?.group ?? ''
  const groups = [source.config.nodegroups[group]?.name ?? '']
  const scoped = new Access(identity, { tags: instance?.tags ?? [], groups: [], permissions: ['*'] })
  const names = (await ask({}, scoped)).rows.flatMap(([, name]) => name ?? [])
  expect(names.filter((name) => name !== 'inst2.gnt.example')).toEqual([])
  expect((await ask({}, new Access(identity, { tags: [], groups, permissions: ['*'] }))).rows).not.toContainEqual([
    first,
    'inst10',
  ])
})
