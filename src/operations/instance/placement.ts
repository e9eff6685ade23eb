// Where a new instance goes, as the built-in allocator sees it.
import { allocate } from '../../allocation/answer'
import { NO_NODE, nodesNeeded, type InstanceData } from '../../allocation/cluster-data'
import { candidatesFor, whyNone } from '../../allocation/explain'
import { diskSpace, templateOf } from '../../allocation/from-config'
import type { NewInstance } from '../../allocation/requests'
import type { DiskTemplate, Node } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import type { UnitContext } from '../unit-context'
import { type Picture, clusterNow } from './allocator'
import type { Wanted } from './create-plan'

export interface PlacementRequest {
  readonly wanted: Wanted
  readonly tags: readonly string[]
  /** By name: only this group, whatever its policy. */
  readonly group: string | undefined
  readonly ignorePolicy: boolean
  /** Only nodes whose locks are held. */
  readonly among: readonly string[] | 'all'
}

/** The cluster as it is now, and places for one instance after the other. */
export class Placer {
  private constructor(
    private readonly picture: Picture,
    private readonly template: DiskTemplate,
  ) {}

  static async open(ctx: UnitContext, template: DiskTemplate): Promise<Placer> {
    return new Placer(await clusterNow(ctx, template), template)
  }

  /** The nodes, the primary first, or why there are none. What was placed counts from then on. */
  place(request: PlacementRequest): readonly Node[] | string {
    const { config, model } = this.picture
    const { among, ignorePolicy } = request
    const held = Object.values(config.nodes).filter(({ uuid }) => among === 'all' || among.includes(uuid))
    const restrictTo = among === 'all' ? undefined : held.map(({ name }) => name)
    const options = { ...this.picture.options, restrictTo, ignorePolicy }
    const instance = newInstance(request, this.template)
    const candidates = candidatesFor(model, instance, options)
    const { nodes } = allocate(model, instance, options)
    if (nodes === undefined) return whyNone(candidates)
    return nodes.flatMap((name) => held.find((node) => node.name === name) ?? [])
  }
}

export async function chooseNodes(
  ctx: UnitContext,
  allocator: string,
  request: PlacementRequest,
): Promise<readonly [Node, ...Node[]]> {
  const { name, template } = request.wanted
  const nodes = (await Placer.open(ctx, template)).place(request)
  const [primary, ...others] = typeof nodes === 'string' ? [] : nodes
  if (primary === undefined)
    throw new OpPrereqError(`Can't compute nodes using iallocator '${allocator}': ${String(nodes)}`, ECODE.NORES)
  const names = [primary, ...others].map((node) => node.name)
  ctx.log.info(`Selected nodes for instance ${name} via iallocator ${allocator}: ${names.join(', ')}`)
  return [primary, ...others]
}

function newInstance({ wanted, tags, group }: PlacementRequest, counted: DiskTemplate): NewInstance {
  const { name, be, disks, nics } = wanted
  const template = templateOf(wanted.template)
  const data: InstanceData = {
    name,
    memory: be.maxmem,
    vcpus: be.vcpus,
    disk: diskSpace(template, disks),
    disks: disks.map(({ size }) => ({ size, spindles: undefined })),
    status: 'running',
    autoBalance: true,
    primary: NO_NODE,
    secondary: NO_NODE,
    template,
    tags,
    spindleUse: be.spindle_use,
    spindles: undefined,
    forthcoming: false,
    networks: nics.flatMap(({ network }) => network ?? []),
    // Ganeti's allocator does not know that these take room on the node.
    ...(template === 'file' && counted === 'file' && { local: true }),
  }
  return { data, requiredNodes: nodesNeeded(template), group }
}
