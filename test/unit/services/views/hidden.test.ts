// A token with a scope is told which of its nodes and groups also have instances that it does not see.
import { systemClock } from '../../../../src/lib/clock'
import { NodeCache } from '../../../../src/services/live-data/node-cache'
import type { ConfigData } from '../../../../src/model/config'
import type { ViewRequest } from '../../../../src/rpc/luxi/gantry'
import { Access } from '../../../../src/services/access/access'
import { view } from '../../../../src/services/views/views'
import { recordValues } from '../../../../src/config/records'
import { goldenConfig, goldenSource } from '../../../support/golden-query'

const user = { user: 'u', token: 't', permissions: ['*'] }
const mine = new Access(user, { permissions: ['*'], tags: ['mine'], groups: [] })

/** The same with these objects in the scope. */
function withMine(config: ConfigData, ...uuids: readonly string[]): ConfigData {
  const tagged = <T extends { readonly uuid: string }>(all: Readonly<Record<string, T>>) =>
    Object.fromEntries(
      Object.entries(all).map(([uuid, one]) => [uuid, { ...one, tags: uuids.includes(uuid) ? ['mine'] : [] }]),
    )
  return {
    ...config,
    ...{ instances: tagged(config.instances), nodes: tagged(config.nodes), nodegroups: tagged(config.nodegroups) },
  }
}

async function reported(access: Access, config: ConfigData, what: 'node' | 'group', name: string, fields: string[]) {
  const request: ViewRequest = { what, name, fields, filter: null, after: null, limit: 9, known: false, sort: null }
  const { rows } = await view(access, request, goldenSource(config), new NodeCache(systemClock))
  return rows[0]
}

const recorded = goldenConfig()
const [primary, secondary] = recordValues(recorded.nodes)
const [first] = recordValues(recorded.instances).filter(({ disks }) => disks.length > 0)
const disk = first && recorded.disks[first.disks[0] ?? '']
const group = recorded.nodegroups[primary?.group ?? '']
if (
  primary === undefined ||
  secondary === undefined ||
  first === undefined ||
  disk === undefined ||
  group === undefined
)
  throw new Error('the recorded cluster has nodes and disks')
const logical_id = [primary.uuid, secondary.uuid, 11000, 0, 0, 's']
const mirror = { ...disk, dev_type: 'drbd' as const, logical_id, nodes: [primary.uuid, secondary.uuid] }
const mirrored = { ...first, primary_node: primary.uuid, disks: [disk.uuid] }

/** A cluster with this instance alone. */
const small: ConfigData = {
  ...recorded,
  ...{ instances: { [mirrored.uuid]: mirrored }, disks: { [disk.uuid]: mirror } },
}
const HIDDEN = ['pinst_cnt', 'pinst_hidden', 'sinst_cnt', 'sinst_hidden']

test('where an instance outside of the scope is primary and secondary is told of nodes and groups in the scope', async () => {
  const config = withMine(small, primary.uuid, secondary.uuid, group.uuid)
  expect(await reported(mine, config, 'node', primary.name, HIDDEN)).toEqual([0, true, 0, false])
  expect(await reported(mine, config, 'node', secondary.name, HIDDEN)).toEqual([0, false, 0, true])
  expect(await reported(mine, config, 'group', group.name, ['pinst_cnt', 'inst_hidden'])).toEqual([0, true])
})

test('the nodes and groups of an instance in the scope are seen, and no others', async () => {
  const config = withMine(small, mirrored.uuid)
  const others = recordValues(config.nodes).filter(({ uuid }) => uuid !== primary.uuid && uuid !== secondary.uuid)
  expect(others).not.toEqual([])
  for (const { name } of [primary, secondary])
    expect(await reported(mine, config, 'node', name, ['name'])).toEqual([name])
  expect(await reported(mine, config, 'group', group.name, ['name'])).toEqual([group.name])
  for (const { name } of others)
    await expect(reported(mine, config, 'node', name, ['name'])).rejects.toThrow(`Node name ${name} not found`)
})

test('an instance in the scope is not hidden', async () => {
  const config = withMine(small, mirrored.uuid, primary.uuid, secondary.uuid, group.uuid)
  expect(await reported(mine, config, 'node', primary.name, HIDDEN)).toEqual([1, false, 0, false])
  expect(await reported(mine, config, 'node', secondary.name, HIDDEN)).toEqual([0, false, 1, false])
  expect(await reported(mine, config, 'group', group.name, ['inst_hidden'])).toEqual([false])
})

test('whoever sees everything misses nothing', async () => {
  const everything = new Access({ ...user, token: null }, null)
  expect(await reported(everything, small, 'node', primary.name, HIDDEN)).toEqual([1, false, 0, false])
  expect(await reported(everything, small, 'group', group.name, ['inst_hidden'])).toEqual([false])
})
