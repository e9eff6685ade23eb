// The master's part of the SSH setup: it keeps the list of all nodes' public keys, and tells nodes over SSH about
// changes of their files (Ganeti's node calls node_ssh_key_add and node_ssh_key_remove).
import { X509Certificate } from 'node:crypto'
import { eachBounded } from '../../lib/work/bounded'
import { pathOnNode, quoteForShell } from '../../lib/ssh/ssh'
import type { PublicKeys } from '../../lib/ssh/keys'
import { PATH } from '../../model/constants/paths'
import { SSH_GENERATE_S, SSH_NODES_AT_ONCE, SSH_TRIES_MAX, SSH_UPDATE_S } from '../../model/limits/ssh'
import type { ResultOf } from '../../rpc/node/calls'
import type { KeyUpdate } from '../../rpc/ssh/messages'
import { fail } from '../failure'
import type { NodeContext } from '../context'
import { runOverSsh, sshFailure, sshFilesOf } from './exec'

export interface KeyHolder {
  readonly uuid: string
  readonly name: string
}

/** Nodes that could not be told, with the reason. */
export type Failures = ResultOf<'node_ssh_key_add'>[number][]

export interface Addition {
  readonly potentialCandidates: readonly string[]
  readonly toAuthorizedKeys: boolean
  readonly toPublicKeys: boolean
  readonly getPublicKeys: boolean
}

export async function addKey(context: NodeContext, node: KeyHolder, addition: Addition): Promise<Failures> {
  const files = sshFilesOf(context)
  const { toAuthorizedKeys, toPublicKeys } = addition
  const keys = new Map(await files.publicKeys())
  if (toPublicKeys) {
    nameByUuid(keys, node)
    await files.writePublicKeys(keys)
  }
  const added = { [node.uuid]: keys.get(node.uuid) ?? [] }
  if (toAuthorizedKeys) await files.authorize(Object.values(added).flat())
  if (addition.getPublicKeys && !isMaster(context, node.name)) await teachNewNode(context, node, keys, toPublicKeys)
  return distributeToOthers(context, [], (name) => ({
    ...(toAuthorizedKeys && { authorized_keys: ['add', added] }),
    ...(toPublicKeys && addition.potentialCandidates.includes(name) && { public_keys: ['replace_or_add', added] }),
  }))
}

/** A node that is about to join is listed by its name. */
function nameByUuid(keys: Map<string, string[]>, { uuid, name }: KeyHolder): void {
  const byName = keys.get(name)
  if (byName === undefined && !keys.has(uuid))
    fail(
      `No keys found for the new node '${name}' (UUID ${uuid}) in the list of public SSH keys, neither for the name or the UUID`,
    )
  if (byName !== undefined) keys.set(uuid, byName)
  keys.delete(name)
}

async function teachNewNode(context: NodeContext, node: KeyHolder, keys: PublicKeys, isNew: boolean): Promise<void> {
  const problem = await distribute(context, node.name, { public_keys: ['override', listed(keys)] })
  if (problem === undefined) return
  if (isNew) await sshFilesOf(context).writePublicKeys(new Map([...keys].filter(([uuid]) => uuid !== node.uuid)))
  fail(`The SSH key files of node '${node.name}' could not be updated: ${problem}`)
}

export interface Removal {
  readonly candidateUuids: readonly string[]
  readonly potentialCandidates: readonly string[]
  readonly fromAuthorizedKeys: boolean
  readonly fromPublicKeys: boolean
  readonly clearAuthorizedKeys: boolean
  readonly clearPublicKeys: boolean
  /** The node may already be missing from the list. */
  readonly readd: boolean
}

export async function removeKey(context: NodeContext, node: KeyHolder, removal: Removal): Promise<Failures> {
  if (isMaster(context, node.name)) fail("Cannot remove the master node's keys.")
  const files = sshFilesOf(context)
  const keys = new Map(await files.publicKeys())
  const gone = keys.get(node.uuid)
  const desired = removal.fromAuthorizedKeys || removal.fromPublicKeys
  if (desired && gone === undefined && !removal.readd)
    fail(
      `Node '${node.uuid}' not found in the list of public SSH keys. It seems someone tries to remove a key from outside the cluster!`,
    )
  const removed = { [node.uuid]: gone ?? [] }
  if (removal.fromAuthorizedKeys) await files.forbid(removed[node.uuid] ?? [])
  const failures = await distributeToOthers(context, [node.name], (name) => ({
    ...(removal.fromAuthorizedKeys && { authorized_keys: ['remove', removed] }),
    ...(removal.fromPublicKeys && removal.potentialCandidates.includes(name) && { public_keys: ['remove', removed] }),
  }))
  const own = await distribute(context, node.name, forgetting(node, keys, removal))
  if (own !== undefined)
    failures.push([
      node.name,
      `Removing SSH keys from node '${node.name}' failed. This can happen when the node is already unreachable. Error: ${own}`,
    ])
  if (removal.fromPublicKeys && keys.delete(node.uuid)) await files.writePublicKeys(keys)
  return failures
}

/**
 * The keys that the node itself must forget. Its authorized keys may contain others than the cluster's, so only
 * candidates' keys are removed.
 */
function forgetting(node: KeyHolder, keys: PublicKeys, removal: Removal): Change {
  const others = removal.candidateUuids.filter((uuid) => uuid !== node.uuid)
  const candidates = listed(new Map([...keys].filter(([uuid]) => others.includes(uuid))))
  return {
    ...(removal.clearAuthorizedKeys && { authorized_keys: ['remove', candidates] }),
    ...(removal.clearPublicKeys
      ? { public_keys: ['clear', {}] }
      : removal.fromPublicKeys && { public_keys: ['remove', { [node.uuid]: [...(keys.get(node.uuid) ?? [])] }] }),
  }
}

export type Change = Pick<KeyUpdate, 'public_keys' | 'authorized_keys' | 'generate'>

/** Tells all online nodes except the master and the given exceptions. An empty change is not sent. */
export async function distributeToOthers(
  context: NodeContext,
  except: readonly string[],
  changeFor: (node: string) => Change,
): Promise<Failures> {
  const failures: Failures = []
  const others = context.ssconf
    .lines('online_nodes')
    .filter((name) => !isMaster(context, name) && !except.includes(name))
  await eachBounded(others, SSH_NODES_AT_ONCE, async (name) => {
    const problem = await distribute(context, name, changeFor(name))
    if (problem !== undefined) failures.push([name, `Its SSH key files could not be updated: ${problem}`])
  })
  return failures
}

/** Sends a change to a node. Returns the last problem, or undefined on success. */
export async function distribute(context: NodeContext, node: string, change: Change): Promise<string | undefined> {
  if (Object.keys(change).length === 0) return undefined
  const input = JSON.stringify({ ...(await senderOf(context)), ...change })
  const timeout_s = change.generate === undefined ? SSH_UPDATE_S : SSH_GENERATE_S
  const command = { line: quoteForShell(pathOnNode(context.paths, node, PATH.SSH_UPDATE)), input, timeout_s }
  let problem: string | undefined
  for (let attempt = 1; attempt <= SSH_TRIES_MAX; attempt++) {
    const result = await runOverSsh(context, node, command)
    problem = sshFailure(result, timeout_s)
    if (problem === undefined) return undefined
    // A node that hangs would do so again, and the caller waits.
    if (result.timedOut) break
  }
  context.log.warn({ node, problem }, 'the SSH key files of a node could not be updated')
  return problem
}

export const listed = (keys: PublicKeys): Record<string, readonly string[]> => Object.fromEntries(keys)

/** The sender's identity: public facts, which keep a wrong address from doing harm. */
async function senderOf({ disk, paths, ssconf }: NodeContext) {
  const pem = (await disk.read(paths.serverCert)) ?? fail('This node has no cluster certificate')
  const cluster_name = ssconf.value('cluster_name') ?? fail('This node does not know the name of its cluster')
  return { cluster_name, node_daemon_certificate: new X509Certificate(pem).toString() }
}

export const isMaster = ({ ssconf }: NodeContext, name: string): boolean => ssconf.value('master_node') === name
