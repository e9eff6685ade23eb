// Asks the allocator, built in or a script, for the place of a new instance.
import { allocate } from '../../../allocation/questions/answer'
import { NO_NODE, nodesNeeded, spindlesOf, type InstanceData } from '../../../allocation/model/cluster-data'
import { candidatesFor } from '../../../allocation/explain/explain'
import { NAME_A_PLACE, whyNone } from '../../../allocation/model/explain-text'
import { diskSpace, templateOf } from '../../../allocation/sources/from-config'
import type { NewInstance } from '../../../allocation/model/requests'
import type { Node } from '../../../model/config'
import { BUILTIN_IALLOCATOR } from '../../../model/constants/words'
import { ECODE, OpPrereqError } from '../../../model/errors'
import { wantedNodes } from '../../find'
import { answerOfScript } from '../../iallocator/ask'
import { nodesOf } from '../../iallocator/results'
import type { UnitContext } from '../../unit-context'
import { type Picture, clusterNow } from './allocator'
import type { Wanted } from '../create/plan'
import { type DiskTemplate, takesCounted } from '../../../model/templates'

export interface PlacementRequest {
  readonly wanted: Pick<Wanted, 'name' | 'os' | 'hypervisor' | 'template' | 'be' | 'disks' | 'nics'>
  readonly tags: readonly string[]
  /** The name of the only group to use, whatever its allocation policy. */
  readonly group: string | undefined
  readonly ignorePolicy: boolean
  /** Other jobs hold locks of suitable nodes; the opcode is tried again with all nodes. */
  readonly opportunistic: boolean
  /** Only nodes whose locks are held. */
  readonly among: readonly string[] | 'all'
}

/** The current cluster, in which one instance after the other is placed. */
export class Placer {
  private constructor(private readonly picture: Picture) {}

  /** `templates`: those of the new instances. */
  static async open(ctx: UnitContext, templates: readonly string[]): Promise<Placer> {
    return new Placer(await clusterNow(ctx, templates))
  }

  /** The nodes, primary first, or why there are none. A placed instance counts from then on. */
  place(request: PlacementRequest): readonly Node[] | string {
    const { config, model, counted } = this.picture
    const { among, ignorePolicy } = request
    const held = heldNodes(among, Object.values(config.nodes))
    const restrictTo = among === 'all' ? undefined : held.map(({ name }) => name)
    const options = { ...this.picture.options, restrictTo, ignorePolicy }
    const instance = newInstance(request, counted)
    const { nodes, info } = allocate(model, instance, options)
    if (nodes === undefined) return whyNone(candidatesFor(model, instance, options), NAME_A_PLACE) ?? info
    return nodes.flatMap((name) => held.find((node) => node.name === name) ?? [])
  }
}

export async function chooseNodes(
  ctx: UnitContext,
  allocator: string,
  request: PlacementRequest,
): Promise<readonly [Node, ...Node[]]> {
  const { name, template } = request.wanted
  const nodes =
    allocator === BUILTIN_IALLOCATOR
      ? (await Placer.open(ctx, [template])).place(request)
      : await placeByScript(ctx, allocator, request)
  const [primary, ...others] = typeof nodes === 'string' ? [] : nodes
  if (primary === undefined) {
    if (request.opportunistic)
      ctx.log.info(`IAllocator '${allocator}' failed on opportunistically acquired nodes: ${String(nodes)}`)
    const code = request.opportunistic ? ECODE.TEMP_NORES : ECODE.NORES
    throw new OpPrereqError(`Can't compute nodes using iallocator '${allocator}': ${String(nodes)}`, code)
  }
  const names = [primary, ...others].map((node) => node.name)
  ctx.log.info(`Selected nodes for instance ${name} via iallocator ${allocator}: ${names.join(', ')}`)
  return [primary, ...others]
}

/** A script may choose a node that is not locked, which cannot be used. */
async function placeByScript(
  ctx: UnitContext,
  allocator: string,
  placement: PlacementRequest,
): Promise<readonly Node[] | string> {
  const { wanted: desired, among } = placement
  const all = Object.values((await ctx.config.read({ nodes: 'all' })).nodes)
  const held = heldNodes(among, all)
  const only = held.length < all.length && { 'restrict-to-nodes': held.map(({ name }) => name) }
  const request = { type: 'allocate', ...allocationOf(placement), ...only }
  const question = { what: 'nodes', request, templates: [desired.template] }
  const { success, info, result } = await answerOfScript(ctx, allocator, question)
  if (!success) return info
  const names = nodesOf(result, nodesNeeded(templateOf(desired.template)))
  const nodes = await wantedNodes(ctx, names)
  return nodes.every((node) => held.some(({ uuid }) => uuid === node.uuid)) ? nodes : notHeld(names)
}

export const heldNodes = (among: readonly string[] | 'all', nodes: readonly Node[]): readonly Node[] =>
  among === 'all' ? nodes : nodes.filter(({ uuid }) => among.includes(uuid))

export const notHeld = (names: readonly string[]): string =>
  `it chose ${names.join(', ')}, whose locks are not all held`

/** The new instance in the words of the allocator protocol. */
export function allocationOf({ wanted: desired, tags, group }: PlacementRequest): Readonly<Record<string, unknown>> {
  const { template, be } = desired
  return {
    ...{ name: desired.name, disk_template: template, group_name: group ?? null, tags, os: desired.os },
    ...{ vcpus: be.vcpus, memory: be.maxmem, spindle_use: be.spindle_use },
    disks: desired.disks.map(({ size, mode, spindles }) => ({
      ...{ size, mode, dev_type: template },
      ...(spindles !== undefined && { spindles }),
    })),
    disk_space_total: diskSpace(templateOf(template), desired.disks),
    // As in the configuration: unset values are missing.
    nics: desired.nics.map(({ uuid, mac, ip, fromPool, network, nicparams, name }) => {
      return { name, mac, ip: fromPool ? 'pool' : ip, network: network?.uuid, nicparams, uuid }
    }),
    required_nodes: nodesNeeded(templateOf(template)),
    hypervisor: desired.hypervisor,
  }
}

function newInstance({ wanted: desired, tags, group }: PlacementRequest, counted: DiskTemplate): NewInstance {
  const { name, be, disks, nics } = desired
  const template = templateOf(desired.template)
  const data: InstanceData = {
    name,
    memory: be.maxmem,
    vcpus: be.vcpus,
    disk: diskSpace(template, disks),
    disks: disks.map(({ size, spindles }) => ({ size, spindles })),
    status: 'running',
    autoBalance: true,
    primary: NO_NODE,
    secondary: NO_NODE,
    template,
    tags,
    spindleUse: be.spindle_use,
    spindles: spindlesOf(disks),
    forthcoming: false,
    networks: nics.flatMap(({ network }) => network?.uuid ?? []),
    local: takesCounted(template, counted),
  }
  return { data, requiredNodes: nodesNeeded(template), group }
}
