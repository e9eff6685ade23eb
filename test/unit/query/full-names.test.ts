// Jobs are found by the objects that they are about, also if these were named in short.
import type { ConfigData } from '../../../src/model/config'
import { findInstance } from '../../../src/config/lookup'
import { runQuery } from '../../../src/query/engine'
import { fullObject } from '../../../src/query/full-names'
import type { JobOutline } from '../../../src/query/source'
import { goldenConfig, goldenSource } from '../../support/golden-query'

const golden = goldenConfig()
const config = withInstances('web1.example.com', 'web2.example.com', 'web2.example.net', 'web', 'WEB3.example.com')

test('a short name, a name in other letters and a uuid mean the full name, if only one object fits', () => {
  const meant = (name: string) => fullObject(config, `instance/${name}`)
  expect(['web1', 'web1.example', 'WEB1', 'web1.example.com', 'u-web1.example.com'].map(meant)).toEqual(
    Array<string>(5).fill('instance/web1.example.com'),
  )
  expect(meant('web3')).toBe('instance/WEB3.example.com')
  expect(['web', 'web2', 'web2.example', 'gone', ''].map(meant)).toEqual(
    ['web', 'web2', 'web2.example', 'gone', ''].map((name) => `instance/${name}`),
  )
  expect(fullObject(config, 'node/node1')).toBe('node/node1.gnt.example')
  expect(['group/default', 'cluster', 'job/7'].map((object) => fullObject(config, object))).toEqual([
    ...['group/default', 'cluster', 'job/7'],
  ])
})

test('a name means what commands take it for', () => {
  for (const name of ['web', 'web1', 'web1.example', 'web2', 'web2.example.net', 'WEB1', 'web3', 'x'])
    expect([name, fullObject(config, `instance/${name}`)]).toEqual([
      name,
      `instance/${findInstance(config, name)?.name ?? name}`,
    ])
})

test('the jobs of an instance are found by its full name', async () => {
  const outline = (id: number, objects: readonly string[]) => ({ id, objects, ops: [] }) as unknown as JobOutline
  const all = [outline(1, ['instance/web1']), outline(2, ['instance/web2']), outline(3, ['instance/web1.example.com'])]
  const jobs = { all: async () => all, known: (id: number) => all[id - 1], one: async () => undefined }
  const source = { ...goldenSource(config), jobs }
  const { data } = await runQuery('job', ['id'], ['=[]', 'objects', 'instance/web1.example.com'], source)
  expect(data.map(([cell]) => cell?.[1])).toEqual([1, 3])
})

function withInstances(...names: string[]): ConfigData {
  const [one] = Object.values(golden.instances)
  const entries = names.map((name) => [`u-${name}`, { ...one, name, uuid: `u-${name}` }])
  return { ...golden, instances: Object.fromEntries(entries) }
}
