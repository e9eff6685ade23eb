// Gives or removes what a master candidate has besides its flag: the trusted certificate, and the SSH key.
import { change } from '../../config/changes'
import { ssconfLines } from '../../config/ssconf'
import type { Node } from '../../model/config'
import { OpExecError } from '../../model/errors'
import { wantedLines } from '../../roles/role'
import { roleNamed } from '../../roles/table'
import type { Change, UnitContext } from '../unit-context'
import { candidateStats } from './roles'

/** The digest of the node's client certificate, also for a node that is about to come online. */
export async function certificateDigest(ctx: UnitContext, node: Node): Promise<string> {
  const what = `Could not retrieve the node's (uuid ${node.uuid}) SSL digest`
  const online = { ...node, offline: false }
  const [token] = await ctx.nodes.call(online, what, 'node_crypto_tokens', [[['ssl', 'get', null]]])
  if (token === undefined) throw new OpExecError(`${what}: the node answered with none`)
  return token[1]
}

/** Promotes other nodes until there are enough candidates, in one step with the changes that require it. */
export async function fillCandidatePool(
  ctx: UnitContext,
  except: readonly string[],
  before: readonly Change[] = [],
): Promise<void> {
  const result = (await ctx.config.change([...before, change('maintainCandidatePool', except)])).at(-1)
  const uuids = Array.isArray(result) ? result.map(String) : []
  const config = await ctx.config.read({ nodes: 'all' })
  const promoted = uuids.flatMap((uuid) => config.nodes[uuid] ?? [])
  if (promoted.length > 0)
    ctx.log.info(`Promoted nodes to master candidate role: ${promoted.map((node) => node.name).join(', ')}`)
  for (const node of promoted) {
    await ctx.config.change([change('addCandidateCert', node.uuid, await certificateDigest(ctx, node))])
    await addSshKey(ctx, node)
  }
  const { now, wanted: desired } = candidateStats(config, except)
  if (now > desired) ctx.log.info(`Note: more nodes are candidates (${now}) than desired (${desired})`)
}

/** Makes all nodes accept the candidate's SSH key. A new node also exchanges public keys with the others. */
export async function addSshKey(ctx: UnitContext, node: Node, options: { isNew?: true } = {}): Promise<void> {
  const config = await ctx.config.read({ nodes: 'all' })
  const master = config.nodes[config.cluster.master_node]
  if (!config.cluster.modify_ssh_setup || master === undefined) return
  const names = Object.values(config.nodes).map(({ name }) => name)
  const authorized = options.isNew ? node.master_candidate : true
  const args = [node.uuid, node.name, names, authorized, true, options.isNew === true] as const
  reportKeys(ctx, node, await ctx.nodes.attempt(master, 'node_ssh_key_add', [...args]))
}

export interface KeyRemoval {
  readonly authorized: boolean
  readonly public: boolean
  /** Which of the node's own key files to clear. */
  readonly clear: { readonly authorized: boolean; readonly public: boolean }
  readonly readd: boolean
}

export const DEMOTED: KeyRemoval = {
  authorized: true,
  public: false,
  clear: { authorized: false, public: false },
  readd: false,
}
export const READDED: KeyRemoval = {
  authorized: true,
  public: true,
  clear: { authorized: false, public: true },
  readd: true,
}
export const leaving = (node: Node): KeyRemoval => ({
  authorized: node.master_candidate,
  public: true,
  clear: { authorized: true, public: true },
  readd: false,
})

export async function removeSshKey(ctx: UnitContext, node: Node, removal: KeyRemoval): Promise<void> {
  const config = await ctx.config.read({ nodes: 'all' })
  const master = config.nodes[config.cluster.master_node]
  if (!config.cluster.modify_ssh_setup || master === undefined) return
  const nodes = Object.values(config.nodes)
  const { clear } = removal
  const result = await ctx.nodes.attempt(master, 'node_ssh_key_remove', [
    node.uuid,
    node.name,
    nodes.filter((other) => other.master_candidate).map(({ uuid }) => uuid),
    nodes.map(({ name }) => name),
    ...([removal.authorized, removal.public, clear.authorized, clear.public, removal.readd] as const),
  ])
  reportKeys(ctx, node, result)
}

type KeyAnswer =
  { ok: true; payload: readonly (readonly [node: string, message: string])[] } | { ok: false; error: string }

/** Never fails: the node's role has already changed, and keys can be renewed later. */
function reportKeys(ctx: UnitContext, node: Node, result: KeyAnswer): void {
  if (!result.ok) {
    ctx.log.warning(`Could not adjust the SSH setup of node '${node.name}' (UUID: ${node.uuid}): ${result.error}`)
    return
  }
  if (result.payload.length === 0) return
  ctx.log.say("Some nodes' SSH key files could not be updated:")
  for (const [name, message] of result.payload) ctx.log.say(`${name}: ${message}`)
}

/** Starts or stops the daemon that notices guests which shut themselves down. */
export async function settleKvmDaemon(ctx: UnitContext, node: Node, quiet: boolean): Promise<void> {
  const kvmd = roleNamed('kvmd')
  if (kvmd === undefined) return
  const files = ssconfLines(await ctx.config.read({ nodes: 'all', groups: 'all' }))
  const run = wantedLines(kvmd, node.name).every(([file, line]) => files[file]?.includes(line) === true)
  const result = await ctx.nodes.attempt(node, 'node_ensure_daemon', [kvmd.program, run])
  if (result.ok || result.offline || (!run && quiet)) return
  ctx.log.warning(`Failed to ${run ? 'start' : 'stop'} KVM daemon on node '${node.name}': ${result.error}`)
}
