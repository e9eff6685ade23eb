// Checks disks outside of nodes: whether the hypervisor can reach them this way, and whether a node has their provider.
import { fillDiskParams } from '../../../config/filled'
import type { ConfigData, Node } from '../../../model/config'
import { ECODE, OpPrereqError } from '../../../model/errors'
import { type DiskTemplate, factsOf } from '../../../model/templates'
import { firstLack } from '../../missing-programs'
import type { UnitContext } from '../../unit-context'
import { readsInUserSpace } from '../parameters/access'
import type { DiskSpec } from './spec'

export interface DiskUse {
  readonly config: Pick<ConfigData, 'cluster' | 'nodegroups'>
  readonly primary: Node
  readonly hypervisor: string
  readonly template: DiskTemplate
}

export async function checkOutside(ctx: UnitContext, specs: readonly DiskSpec[], use: DiskUse): Promise<void> {
  const facts = factsOf(use.template)
  if (facts.access === true) await checkAccess(ctx, specs, use)
  if (facts.ownParams === true) await checkProviders(ctx, specs, use.primary)
}

async function checkAccess(
  ctx: UnitContext,
  specs: readonly DiskSpec[],
  { config, primary, hypervisor, template }: DiskUse,
): Promise<void> {
  const { access: usual } = fillDiskParams(config.cluster, config.nodegroups[primary.group], template)
  const userspace = specs.some(({ access = usual }) => access === 'userspace')
  if (userspace && !readsInUserSpace(hypervisor))
    throw new OpPrereqError(
      `Selected hypervisor (${hypervisor}) cannot be used with 'userspace' disk access: give the disks access=kernelspace`,
      ECODE.STATE,
    )
  const { qemuModule } = factsOf(template)
  if (!userspace || qemuModule === undefined) return
  const lack = await firstLack(ctx, config.cluster, [primary], [qemuModule])
  if (lack !== undefined)
    throw new OpPrereqError(
      `QEMU on node ${primary.name} cannot reach disks of template '${template}' by itself, it has no module ${qemuModule}: install the ` +
        `Debian package ${lack.packageName} there, or give the disks access=kernelspace`,
      ECODE.ENVIRON,
    )
}

async function checkProviders(ctx: UnitContext, specs: readonly DiskSpec[], node: Node): Promise<void> {
  const results = await ctx.nodes.many([node], 'extstorage_diagnose', [])
  const found = ctx.nodes.raise(results, node, `Cannot ask node ${node.name} for its external storage providers`)
  for (const { provider, own = {} } of specs) {
    const [first] = found.filter(([name]) => name === provider)
    if (first === undefined)
      throw new OpPrereqError(
        `Node ${node.name} has no external storage provider '${provider}': install it there, or choose one that ` +
          "'gnt-storage diagnose' lists",
        ECODE.ENVIRON,
      )
    const [, place, ok, problem, parameters] = first
    if (!ok)
      throw new OpPrereqError(
        `External storage provider '${provider}' in ${place} on node ${node.name} cannot be used: ${problem}`,
        ECODE.ENVIRON,
      )
    const known = parameters.map(([name]) => name)
    const unknown = Object.keys(own).filter((name) => !known.includes(name))
    if (unknown.length > 0)
      throw new OpPrereqError(
        `External storage provider '${provider}' has no parameter ${unknown.join(', ')}: it knows ${known.join(', ') || 'none'}`,
        ECODE.INVAL,
      )
  }
}
