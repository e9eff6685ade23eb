// A configuration with any number of instances, ten on each node. Each has a mirrored disk on two neighbours.
import { recordFrom } from '../../src/config/records'
import type { ConfigData, Disk, Instance } from '../../src/model/config'
import { diskUuid, instanceUuid, nicUuid, nodeUuid } from '../../src/model/ids'
import { buildDisk, buildInstance, buildNode, id, master, smallConfig } from '../unit/config/builders'

const PER_NODE = 10

export const instanceUuidOf = (n: number) => instanceUuid(id(0x1000000 + n))
export const diskUuidOf = (n: number) => diskUuid(id(0x2000000 + n))
export const nodeUuidOf = (n: number) => nodeUuid(id(0x3000000 + n))

/** `wrap` may make something else of each object, to see who looks at it. */
export function clusterOfSize(instances: number, wrap = <T extends object>(object: T): T => object): ConfigData {
  const config = smallConfig()
  const all = <T extends { readonly uuid: string }>(objects: readonly T[]) =>
    recordFrom(objects.map((object): [string, T] => [object.uuid, wrap(object)]))
  const numbers = Array.from({ length: instances }, (_, n) => n)
  const nodes = numbers.slice(0, instances / PER_NODE).map((n) => buildNode(config, n))
  return {
    ...config,
    nodes: all([master(config), ...nodes]),
    instances: all(numbers.map((n) => instanceOf(config, n, n % nodes.length))),
    disks: all(numbers.map((n) => diskOf(n, n % nodes.length, (n + 1) % nodes.length))),
  }
}

/** The first five have the tag `mine`. */
export const instanceOf = (config: ConfigData, n: number, node: number, disks = [diskUuidOf(n)]): Instance =>
  buildInstance(config, n, {
    primary_node: nodeUuidOf(node),
    disks,
    tags: n < 5 ? ['mine'] : [],
    nics: [{ mac: macOf(n), nicparams: {}, uuid: nicUuid(id(0x6000000 + n)) }],
  })

const macOf = (n: number): string =>
  `aa:01:${n
    .toString(16)
    .padStart(8, '0')
    .replace(/..(?=.)/g, '$&:')}`

const diskOf = (n: number, a: number, b: number): Disk =>
  buildDisk(n, {
    dev_type: 'drbd',
    logical_id: [nodeUuidOf(a), nodeUuidOf(b), 20_000 + n, n, n, `secret${n}`],
    children: ['data', 'meta'].map((part) => buildDisk(n, { dev_type: 'plain', logical_id: ['vg', `${part}${n}`] })),
  })
