// Checks the answer of a joining node's daemon: it must speak the cluster's protocol, and have usable disks.
import type { ConfigData, Node } from '../../model/config'
import { PROTOCOL_VERSION, PROTOCOL_VERSIONS_SUPPORTED } from '../../model/constants/versions'
import { ECODE, OpPrereqError } from '../../model/errors'
import { asObject } from '../group/params'
import type { UnitContext } from '../unit-context'
import { isOnLvm } from '../../model/templates'

export async function checkNodeSoftware(ctx: UnitContext, config: ConfigData, node: Node): Promise<void> {
  const what = `Can't get version information from node ${node.name}`
  const version = await ctx.nodes.require(node, what, ECODE.ENVIRON, 'version', [])
  if (!PROTOCOL_VERSIONS_SUPPORTED.includes(version))
    throw new OpPrereqError(
      `Version mismatch master version ${PROTOCOL_VERSION}, node version ${version}`,
      ECODE.ENVIRON,
    )
  await checkPhysicalVolumes(ctx, config, node)
}

async function checkPhysicalVolumes(ctx: UnitContext, { cluster }: ConfigData, node: Node): Promise<void> {
  const vg = cluster.volume_group_name
  if (vg === undefined || !cluster.enabled_disk_templates.some((template) => isOnLvm(template))) return
  const args = [{ pvlist: [vg] }, cluster.cluster_name, cluster.hvparams] as const
  const result = await ctx.nodes.attempt(node, 'node_verify_light', [...args])
  const volumes: unknown = result.ok ? result.payload['pvlist'] : undefined
  const problems = Array.isArray(volumes) ? volumes.flatMap(problemOf) : ["Can't get PV list from node"]
  if (problems.length > 0) throw new OpPrereqError(`Checks on node PVs failed: ${problems.join('; ')}`, ECODE.ENVIRON)
}

/** lvcreate reads the text after a colon as a range of extents. */
function problemOf(volume: unknown): string[] {
  const { name, vg_name } = asObject(volume)
  return String(name).includes(':') ? [`Invalid character ':' in PV '${String(name)}' of VG '${String(vg_name)}'`] : []
}
