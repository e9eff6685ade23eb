// The cluster and its locks are shown as a real master showed them.
import { readFileSync } from 'node:fs'
import * as path from 'node:path'
import { clusterInfo } from '../../../../src/query/cluster-info'
import { runQuery } from '../../../../src/query/engine'
import type { QueryFilter } from '../../../../src/rpc/luxi/calls'
import { lockViews } from '../../../../src/services/views/locks-view'
import { goldenConfig, goldenSource } from '../../../support/golden-query'

const VERSIONS = ['software_version', 'protocol_version', 'config_version', 'vcs_version', 'architecture']
/** The recording was made after changes of these. */
const CHANGED = ['tags', 'mtime']

test('the cluster is described with the keys, in the order and with the values that were recorded', () => {
  const file = path.join(__dirname, '../../../golden/luxi/158-proto-badversion.json')
  const recorded = (JSON.parse(readFileSync(file, 'utf8')) as { response_json: { result: Record<string, unknown> } })
    .response_json.result
  const info = clusterInfo(goldenConfig())
  expect(Object.keys(info)).toEqual(Object.keys(recorded))
  const without = (all: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(all).filter(([key]) => !VERSIONS.includes(key) && !CHANGED.includes(key)))
  expect(JSON.parse(JSON.stringify(without(info)))).toEqual(without(recorded))
  expect(info['architecture']).toEqual(['64bits', expect.any(String)])
})

test('locks are shown with their holders and with who waits, as JSON texts, and found by them', async () => {
  const views = lockViews(
    [
      ['node/a', [[[5, '/l', 1], 'exclusive']]],
      [
        'cluster/BGL',
        [
          [[5, '/l', 1], 'shared'],
          [['luxid', '/l', 2], 'shared'],
        ],
      ],
    ],
    [
      [
        0,
        [7, '/l', 3],
        [
          ['node/a', 'shared'],
          ['node/b', 'exclusive'],
          ['node/c', 'release'],
        ],
      ],
    ],
  )
  expect(views).toEqual([
    { name: 'node/a', mode: 'exclusive', owner: ['5'], pending: [['shared', ['7']]] },
    { name: 'cluster/BGL', mode: 'shared', owner: ['5', '"luxid"'], pending: [] },
    { name: 'node/b', mode: null, owner: [], pending: [['exclusive', ['7']]] },
  ])
  const source = { ...goldenSource(), locks: { locks: async () => views } }
  const found = async (filter: QueryFilter) => {
    const { data } = await runQuery('lock', ['name', 'waiting'], filter, source)
    return data.map((row) => row.map((cell) => cell?.[1]))
  }
  const waited = [
    ['node/a', ['7']],
    ['node/b', ['7']],
  ]
  expect(await found(['?', 'waited'])).toEqual(waited)
  expect(await found(['=[]', 'waiting', '7'])).toEqual(waited)
  expect(await found(['=[]', 'waiting', '5'])).toEqual([])
  expect(await found(['=[]', 'owner', '5'])).toEqual([
    ['node/a', ['7']],
    ['cluster/BGL', []],
  ])
})
