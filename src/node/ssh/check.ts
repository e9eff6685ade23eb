// Answers the SSH checks of cluster verify: whether this node reaches others, as the cluster's tools do, and whether
// its key files are right. Virtual nodes share one machine, and have SSH only if it was set up for them.
import { authorizedIn, repeatedOwners } from '../../lib/ssh/keys'
import { isObject } from '../../lib/shapes/shape'
import type { NodeContext } from '../context'
import { isVirtualNode } from '../network/addresses'
import { runOverSsh, sshFailure, sshFilesOf } from './exec'

const RENEW = "Consider running 'gnt-cluster renew-crypto --new-ssh-keys [--no-ssh-key-check]' to fix this."

/** `[nodes, {node: [nodes of other groups]}, candidates]` -> faults by node. Only candidates check. */
export async function sshProblems(
  context: NodeContext,
  input: unknown,
  clusterName: string,
): Promise<Record<string, string>> {
  const [nodes, others, candidates] = Array.isArray(input) ? (input as unknown[]) : []
  if (isVirtualNode(context.paths) && (await sshFilesOf(context).publicKeys()) === undefined) return {}
  if (Array.isArray(candidates) && !candidates.includes(context.hostname)) return {}
  const extra = isObject(others) ? others[context.hostname] : []
  const names = [nodes, extra].flatMap((list) => (Array.isArray(list) ? list.map(String) : []))
  const found = await Promise.all(
    names.map(async (name) => [name, await sshProblem(context, name, clusterName)] as const),
  )
  return Object.fromEntries(found.filter((pair): pair is [string, string] => pair[1] !== undefined))
}

/** A virtual node would answer with the name of its machine. */
const TELL_NAME = 'if test -z "$GANETI_HOSTNAME"; then hostname --fqdn; else echo "$GANETI_HOSTNAME"; fi'

async function sshProblem(context: NodeContext, node: string, hostAlias: string): Promise<string | undefined> {
  const result = await runOverSsh(context, node, { line: TELL_NAME, hostAlias })
  const problem = sshFailure(result)
  if (problem !== undefined) return `ssh problem: ${problem}`
  const name = result.stdout.trim()
  return name === node || node.startsWith(`${name}.`)
    ? undefined
    : `hostname mismatch: expected ${node} but got ${name}`
}

interface NodeStatus {
  uuid: string
  name: string
  isCandidate: boolean
  mayBeCandidate: boolean
  isOnline: boolean
}

/** `[[uuid, name, candidate, may be candidate, online], ...], key type` -> faults, with Ganeti's texts. */
export async function setupProblems(context: NodeContext, input: unknown): Promise<string[]> {
  const [list, keyType] = Array.isArray(input) ? (input as unknown[]) : []
  if (!Array.isArray(list)) return ['No node list to check against the pub_key_file received.']
  const nodes = list.flatMap((entry: unknown) => (Array.isArray(entry) ? [statusOf(entry)] : []))
  const me = nodes.find(({ name }) => name === context.hostname)
  if (me === undefined) return [`Cannot find node information for node '${context.hostname}'.`]
  const files = sshFilesOf(context)
  const keys = await files.publicKeys()
  const file = context.paths.virtual(context.paths.sshPublicKeys)
  if (keys === undefined) return [`The public key file '${file}' does not exist. ${RENEW}`]
  const own = await files.ownKey(String(keyType))
  const inList = me.mayBeCandidate
    ? [...membership(nodes, keys, `${me.name}:${file}`), ...ownKeyProblems(me, keys.get(me.uuid) ?? [], own)]
    : keys.size > 0
      ? [`The public key file ${me.name}:${file} is not empty, although the node is not a potential master candidate.`]
      : []
  return [...inList, ...authorizedProblems(me, nodes, keys, await files.authorizedKeys())]
}

function statusOf([uuid, name, candidate, potential, online]: unknown[]): NodeStatus {
  const [isCandidate, mayBeCandidate, isOnline] = [candidate === true, potential === true, online === true]
  return { uuid: String(uuid), name: String(name), isCandidate, mayBeCandidate, isOnline }
}

function membership(nodes: readonly NodeStatus[], keys: ReadonlyMap<string, unknown>, file: string): string[] {
  const desired = nodes.filter(({ isOnline }) => isOnline).map(({ uuid }) => uuid)
  const offline = new Set(nodes.filter(({ isOnline }) => !isOnline).map(({ uuid }) => uuid))
  const unknown = [...keys.keys()].filter((uuid) => !offline.has(uuid) && !desired.includes(uuid))
  const missing = desired.filter((uuid) => !keys.has(uuid))
  return [
    ...(unknown.length === 0
      ? []
      : [
          `The following node UUIDs are listed in the shared public keys file ${file}, but are not potential master candidates: ${unknown.join(', ')}.`,
        ]),
    ...(missing.length === 0
      ? []
      : [
          `The following node UUIDs of potential master candidates are missing in the shared public keys file ${file}: ${missing.join(', ')}.`,
        ]),
  ]
}

function ownKeyProblems({ name }: NodeStatus, listed: readonly string[], own: string | undefined): string[] {
  return [
    ...(own !== undefined && listed.includes(own)
      ? []
      : [`The key for node ${name} in the cluster config does not match this node's key in the node public key file.`]),
    ...(listed.length > 1 ? [`There is more than one key for node ${name} in the node public key file.`] : []),
  ]
}

/** Candidates may log in everywhere, other nodes only on themselves. */
function authorizedProblems(
  me: NodeStatus,
  nodes: readonly NodeStatus[],
  keys: ReadonlyMap<string, readonly string[]>,
  authorized: string,
): string[] {
  const isAuthorized = authorizedIn(authorized)
  return nodes
    .filter(({ isOnline }) => isOnline)
    .flatMap(({ uuid, name, isCandidate }) =>
      (keys.get(uuid) ?? []).flatMap((key) => {
        const there = isAuthorized(key)
        const where = `in the 'authorized_keys' file of`
        if (isCandidate)
          return there
            ? []
            : [`A SSH key of master candidate '${name}' (UUID: '${uuid}') is not ${where} node '${me.name}'.`]
        if (name === me.name)
          return there ? [] : [`A SSH key of normal node '${name}' (UUID: '${uuid}') is not ${where} itself.`]
        return there ? [`A SSH key of normal node '${name}' (UUID: '${uuid}') is ${where} node '${me.name}'.`] : []
      }),
    )
}

/** Keys that a failed operation may have left behind. */
export async function clutterProblems(context: NodeContext): Promise<string[]> {
  const nodes = context.ssconf.lines('node_list')
  const repeated = repeatedOwners(await sshFilesOf(context).authorizedKeys())
  const found = [...repeated].filter(([owner]) => nodes.includes(owner.split('@')[1] ?? ''))
  if (found.length === 0) return []
  const entries = found.map(([owner, lines]) => `Entry for '${owner}' in lines ${lines.join(', ')}.`)
  return [
    `There are hosts which have more than one SSH key stored for the same user in the 'authorized_keys' file of node ` +
      `${context.hostname}. This can be due to an unsuccessful operation which cluttered up the 'authorized_keys' file. ` +
      `We recommend to clean this up manually. ${entries.join(' ')}`,
  ]
}
