// The nodes, the instances and the cluster itself have names of hosts, and no two of them the same.
import { recordValues } from '../config/records'
import { ECODE, OpPrereqError } from '../model/errors'
import type { UnitContext } from './unit-context'

/** `own`: the uuid of the object that gets or keeps the name. */
export async function checkNameIsFree(ctx: UnitContext, name: string, own?: string): Promise<void> {
  const { cluster, instances, nodes } = await ctx.config.read({ instances: [name], nodes: [name] })
  const isOther = (one: { readonly name: string; readonly uuid: string }) => one.name === name && one.uuid !== own
  if (recordValues(instances).some(isOther))
    throw new OpPrereqError(`Instance '${name}' is already in the cluster`, ECODE.EXISTS)
  if (recordValues(nodes).some(isOther))
    throw new OpPrereqError(`A node of the cluster has the name '${name}'`, ECODE.EXISTS)
  if (cluster.cluster_name === name && cluster.uuid !== own)
    throw new OpPrereqError(`The cluster has the name '${name}'`, ECODE.EXISTS)
}
