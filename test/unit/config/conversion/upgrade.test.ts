// Ganeti's own test configurations of each version become one of 3.1 that our store loads and finds nothing wrong with.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { downgradable, downgradeConfig } from '../../../../src/config/conversion/downgrade'
import type { Raw } from '../../../../src/config/conversion/raw'
import { isUpgradable, upgradeConfig } from '../../../../src/config/conversion/upgrade'
import { encodeConfig } from '../../../../src/config/encode'
import { loadConfig } from '../../../../src/config/upgrade'
import { verifyConfig } from '../../../../src/config/verify'
import { seededRandom } from '../../../../src/lib/random'
import { ConfigurationError } from '../../../../src/model/errors'

const DATA = path.join(__dirname, '../../../data/config')
const raw = (version: string): Raw =>
  JSON.parse(fs.readFileSync(path.join(DATA, `cluster_config_${version}.json`), 'utf8')) as Raw
const load = (config: Raw) => loadConfig(JSON.stringify(config), seededRandom(1)).config

function upgraded(version: string, change: (config: Raw) => void = () => undefined) {
  const config = raw(version)
  change(config)
  const notices = upgradeConfig(config, seededRandom(2))
  return { config: load(config), notices }
}

const VERSIONS = ['2.7', '2.8', '2.9', '2.10', '2.11', '2.12', '2.13', '2.14', '2.15', '2.16', '3.0']
const only = <T>(objects: Readonly<Record<string, T>>): T => {
  const [first] = Object.values(objects)
  if (first === undefined) throw new Error('there is none')
  return first
}

test.each(VERSIONS)('a configuration of Ganeti %s loads as one of 3.1, and nothing is wrong with it', (version) => {
  const before = raw(version)
  const { config } = upgraded(version)
  expect(isUpgradable(Number(before['version']))).toBe(true)
  expect(config.version).toBe(3010000)
  expect(verifyConfig(config)).toEqual([])
  const names = (objects: unknown) => Object.values(objects as Record<string, { name: string }>).map(({ name }) => name)
  expect(names(config.instances).sort()).toEqual(names(before['instances']).sort())
  expect(names(config.nodes).sort()).toEqual(names(before['nodes']).sort())
})

test.each(['2.9', '2.10', '2.12', '2.14', '2.16'])(
  'instances, disks and nodes of Ganeti %s are those that Ganeti has made of them in 3.1',
  (version) => {
    const { config } = upgraded(version)
    const desired = load(raw('3.1'))
    const comparable = (objects: object) =>
      JSON.parse(
        JSON.stringify(objects, (key, value: unknown) =>
          ['mtime', 'ctime', 'serial_no', 'children'].includes(key) ? undefined : value,
        ),
      ) as unknown
    for (const kind of ['instances', 'disks', 'nodes', 'nodegroups', 'networks'] as const)
      expect(comparable(config[kind])).toEqual(comparable(desired[kind]))
    const drbd = Object.values(config.disks).filter(({ dev_type }) => dev_type === 'drbd')
    const before = Object.values(desired.disks).filter(({ dev_type }) => dev_type === 'drbd')
    expect(drbd).not.toEqual([])
    for (const [index, disk] of drbd.entries())
      expect(disk.children.map(({ logical_id, nodes }) => [logical_id, nodes])).toEqual(
        before[index]?.children.map(({ logical_id, nodes }) => [logical_id, nodes]),
      )
  },
)

test('a group of old that has no ranges of its own goes on with those of the cluster, and one that has some keeps them', () => {
  const { config } = upgraded('2.7')
  const policies = Object.values(config.nodegroups).map(({ name, ipolicy }) => [name, ipolicy.minmax?.[0]?.max])
  expect(Object.fromEntries(policies)).toEqual({
    default: undefined,
    another: { ...config.cluster.ipolicy.minmax[0]?.max, 'nic-count': 18, 'spindle-use': 14 },
  })
  expect(config.cluster.gluster_storage_dir).toBe('')
})

test('what an old cluster had otherwise is kept, and what it did not have gets the value that it behaved by', () => {
  const { config, notices } = upgraded('2.16', ({ cluster }) => {
    delete (cluster as Raw)['enabled_disk_templates']
  })
  expect(config.cluster).toMatchObject({ ssh_key_type: 'dsa', ssh_key_bits: 1024 })
  expect(notices).toEqual([expect.stringContaining('SSH keys'), expect.stringContaining('client certificate')])
  // In Ganeti's order: the first is the default.
  expect(config.cluster.enabled_disk_templates).toEqual(['drbd', 'plain'])
})

test('words that 3.1 does not have become those that mean the same, and are told', () => {
  const { config, notices } = upgraded('3.0', (before) => {
    const { hvparams } = before['cluster'] as { hvparams: Record<string, Raw> }
    hvparams['kvm'] = { ...hvparams['kvm'], disk_discard: 'default' }
    hvparams['xen-pvm'] = { ...hvparams['xen-pvm'], xen_cmd: 'xl' }
    only(before['instances'] as Record<string, Raw>)['hvparams'] = { disk_discard: 'default', migration_port: 1 }
  })
  expect(config.cluster.hvparams['kvm']).toMatchObject({ disk_discard: 'ignore' })
  expect(config.cluster.hvparams['xen-pvm']).not.toHaveProperty('xen_cmd')
  const changed = Object.values(config.instances).find(({ hvparams }) => hvparams['disk_discard'] === 'ignore')
  expect(changed?.hvparams).toEqual({ disk_discard: 'ignore' })
  expect(notices.filter((text) => text.includes('"ignore" now'))).toHaveLength(2)
})

test('one size of memory becomes the smallest and the largest', () => {
  const { config } = upgraded('2.7', (before) => {
    only(before['instances'] as Record<string, Raw>)['beparams'] = { memory: 256 }
  })
  expect(Object.values(config.instances).map(({ beparams }) => beparams)).toContainEqual({ minmem: 256, maxmem: 256 })
})

test('a node that is named and is not there is refused', () => {
  const lost = (before: Raw) => (only(before['instances'] as Record<string, Raw>)['primary_node'] = 'lost.example.com')
  expect(() => upgraded('2.8', lost)).toThrow(/instance \S+ names a node lost\.example\.com that is not there/)
})

test.each([2_060_000, 2_170_000, 3_010_000, 3_020_000, 1_000_000])('version %s is not converted', (version) => {
  expect(isUpgradable(version)).toBe(false)
})

test('a configuration of 3.1 goes to 3.0 and back without loss', () => {
  const { config } = upgraded('3.0')
  const before = encodeConfig(config)
  const down = JSON.parse(before) as Raw
  downgradeConfig(down)
  expect(down['version']).toBe(downgradable(config.version))
  expect(down['cluster']).toHaveProperty(['hvparams', 'xen-pvm', 'xen_cmd'], 'xl')
  expect(down['cluster']).not.toHaveProperty(['diskparams', 'rbd', 'user-id'])
  const there = load(down)
  expect(there.version).toBe(3000000)
  const back = JSON.parse(encodeConfig(there)) as Raw
  expect(upgradeConfig(back, seededRandom(3)).filter((text) => !text.includes('client certificate'))).toEqual([])
  expect(encodeConfig(load(back))).toBe(before)
})

test('what 3.0 cannot keep is refused with the commands that take it away', () => {
  const { config } = upgraded('3.0')
  const down = JSON.parse(encodeConfig(config)) as { cluster: { diskparams: Record<string, Raw> } } & Raw
  down.cluster.diskparams['rbd'] = { ...down.cluster.diskparams['rbd'], 'user-id': 'alice' }
  expect(() => downgradeConfig(down)).toThrow(ConfigurationError)
  expect(() => downgradeConfig(down)).toThrow(/First: gnt-cluster modify -D rbd:user-id=/)
  expect(down['version']).toBe(3010000)
})
