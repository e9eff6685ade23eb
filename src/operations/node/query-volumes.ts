// OP_NODE_QUERYVOLS: lists nodes' logical volumes and their owners.
import { diskNodes, instanceDisks, logicalVolumes } from '../../config/lookup'
import type { ConfigData, Disk, Instance } from '../../model/config'
import { compareText, niceSortBy } from '../../model/nice-sort'
import { OpNodeQueryvols } from '../../opcodes/node'
import type { VolumeInfo } from '../../rpc/node/dicts'
import { nodesOrAll } from '../find'
import { logicalUnit } from '../logical-unit'
import { checkFields, lockNodesForReading } from './reading'

interface Row {
  readonly node: string
  readonly volume: VolumeInfo
  readonly instance: string | undefined
}

const FIELDS: Readonly<Record<string, (row: Row) => string>> = {
  node: ({ node }) => node,
  phys: ({ volume }) => volume.dev,
  vg: ({ volume }) => volume.vg,
  name: ({ volume }) => volume.name,
  size: ({ volume }) => String(Math.trunc(Number(volume.size))),
  instance: ({ instance }) => instance ?? '-',
}

export const nodeQueryVolumes = logicalUnit(OpNodeQueryvols, {
  question: true,
  locks(op, ctx) {
    checkFields(Object.keys(FIELDS), op.output_fields)
    return lockNodesForReading(op, ctx)
  },
  check: (ctx, op) => nodesOrAll(ctx, op.nodes),
  async run(ctx, op, nodes) {
    const owners = volumeOwners(await ctx.config.read({ instances: 'all' }))
    const results = await ctx.nodes.many(nodes, 'node_volumes', [])
    return niceSortBy(nodes, (node) => node.name).flatMap((node) => {
      const result = results.get(node.uuid)
      if (result?.ok !== true) {
        if (result?.offline !== true)
          ctx.log.warning(`Can't compute volume data on node ${node.name}: ${result?.error ?? 'no answer'}`)
        return []
      }
      const volumes = [...result.payload].sort((a, b) => compareText(a.dev, b.dev))
      return volumes.map((volume) => {
        const row = { node: node.name, volume, instance: owners.get(key(node.uuid, volume.vg, volume.name)) }
        return op.output_fields.map((field) => FIELDS[field]?.(row))
      })
    })
  },
})

const key = (node: string, vg: string, name: string): string => `${node} ${vg}/${name}`

/** Instance names by node and volume. */
function volumeOwners(config: ConfigData): Map<string, string> {
  const owners = new Map<string, string>()
  for (const instance of Object.values(config.instances))
    for (const disk of instanceDisks(config, instance))
      for (const node of nodesWith(instance, disk))
        for (const [vg, name] of logicalVolumes(disk)) owners.set(key(node, vg, name), instance.name)
  return owners
}

function nodesWith(instance: Instance, disk: Disk): readonly string[] {
  const nodes = diskNodes(disk)
  return nodes.length > 0 ? nodes : [instance.primary_node]
}
