// Random changes for the property tests: mostly sensible, sometimes refused.
import * as fc from 'fast-check'
import type { NamedChange } from '../../../src/config/changes'
import type { ConfigData } from '../../../src/model/config'
import { nicUuid } from '../../../src/model/ids'
import { buildDisk, buildGroup, buildInstance, buildNetwork, buildNode, id, master } from './builders'

const n = fc.nat({ max: 5 })
const instance = n.map((i) => id(0x1000000 + i))
const disk = n.map((i) => id(0x2000000 + i))
const network = n.map((i) => id(0x5000000 + i))
const made = (change: NamedChange): NamedChange => change

export function arbitraryChange(config: ConfigData): fc.Arbitrary<NamedChange> {
  const nic = (i: number, net: string) => ({
    mac: `aa:00:00:00:00:0${i}`,
    ip: `10.${i}.0.${i + 3}`,
    nicparams: {},
    network: net,
    uuid: nicUuid(id(0x6000000 + i)),
  })
  return fc.oneof(
    n.map((i) => made(['addInstance', buildInstance(config, i)])),
    fc.tuple(n, network).map(([i, net]) => made(['addInstance', { ...buildInstance(config, i), nics: [nic(i, net)] }])),
    instance.map((uuid) => made(['removeInstance', uuid])),
    fc
      .tuple(instance, fc.constantFrom('up', 'down', 'offline', null), fc.option(fc.boolean()))
      .map(([uuid, state, active]) => made(['setInstanceStatus', uuid, state, active, 'admin'])),
    fc
      .tuple(instance, fc.nat({ max: 9 }))
      .map(([uuid, vcpus]) => made(['patchInstance', uuid, { beparams: { vcpus } }])),
    fc.tuple(instance, n).map(([uuid, i]) => made(['renameInstance', uuid, `renamed${i}.example.com`])),
    fc.tuple(instance, n).map(([uuid, i]) => made(['addInstanceDisk', uuid, buildDisk(i), null])),
    fc.tuple(instance, disk).map(([uuid, d]) => made(['detachInstanceDisk', uuid, d])),
    fc.tuple(instance, disk, n).map(([uuid, d, i]) => made(['attachInstanceDisk', uuid, d, i])),
    fc.tuple(instance, disk).map(([uuid, d]) => made(['removeInstanceDisk', uuid, d])),
    n.map((i) => made(['addNode', buildNode(config, i + 2)])),
    n.map((i) => made(['removeNode', id(0x3000000 + i + 2)])),
    n.map((i) => made(['addNodeGroup', buildGroup(i)])),
    n.map((i) => made(['removeNodeGroup', id(0x4000000 + i)])),
    n.map((i) => made(['addNetwork', buildNetwork(i)])),
    network.map((uuid) => made(['removeNetwork', uuid])),
    fc.constant(made(['allocatePort'])),
    fc.integer({ min: 11000, max: 11005 }).map((port) => made(['addTcpUdpPort', port])),
    fc.constantFrom('vg1', null).map((name) => made(['patchCluster', { volume_group_name: name }])),
    fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1 }).map((tags) => made(['addTags', 'cluster', '', tags])),
    fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1 }).map((tags) => made(['removeTags', 'cluster', '', tags])),
    n.map((i) => made(['addTags', 'node', master(config).uuid, [`t${i}`]])),
    fc.constant(made(['maintainCandidatePool'])),
    fc
      .tuple(fc.constantFrom('tokens', 'plans'), n, fc.option(n))
      .map(([section, i, v]) => made(['setGantry', section, `k${i}`, v])),
  )
}
