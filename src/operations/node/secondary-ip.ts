// A node's second address, for mirroring disks: either all nodes of a cluster have one, or none.
import { isIPv4 } from 'node:net'
import type { Node } from '../../model/config'
import { ECODE, OpExecError, OpPrereqError } from '../../model/errors'
import type { UnitContext } from '../unit-context'

export function checkIsIp4(ip: string): void {
  if (!isIPv4(ip)) throw new OpPrereqError(`Secondary IP (${ip}) needs to be a valid IPv4 address`, ECODE.INVAL)
}

export const isSingleHomed = (node: Pick<Node, 'primary_ip' | 'secondary_ip'>): boolean =>
  node.primary_ip === node.secondary_ip

const missingText = (ip: string): string =>
  `Node claims it doesn't have the secondary ip you gave (${ip}), please fix and re-run this command`

/** Checks before anything changes. */
export async function checkHasIp(ctx: UnitContext, node: Node, ip: string): Promise<void> {
  const what = `Failure checking secondary ip on node ${node.name}`
  const has = await ctx.nodes.require(node, what, ECODE.ENVIRON, 'node_has_ip_address', [ip])
  if (!has) throw new OpPrereqError(missingText(ip), ECODE.ENVIRON)
}

/** For a node that is being added: its daemon could not be asked earlier. */
export async function expectIp(ctx: UnitContext, node: Node, ip: string): Promise<void> {
  const what = `Failure checking secondary ip on node ${node.name}`
  if (!(await ctx.nodes.call(node, what, 'node_has_ip_address', [ip]))) throw new OpExecError(missingText(ip))
}

/** Checks that the node daemon also answers at that address. */
export async function checkReachable(ctx: UnitContext, node: Node, ip: string): Promise<void> {
  const result = await ctx.nodes.attempt({ ...node, primary_ip: ip, offline: false }, 'version', [])
  if (!result.ok)
    throw new OpPrereqError('Node secondary ip not reachable by TCP based ping to node daemon port', ECODE.ENVIRON)
}
