// New SSH keys for all nodes (Ganeti's node call node_ssh_keys_renew). Old and new keys are both good until every
// reachable node knows the new ones, so a failure half-way locks nobody out.
import { eachBounded } from '../../lib/work/bounded'
import { pathOnNode, quoteForShell } from '../../lib/ssh/ssh'
import { sshKeyFile } from '../../lib/ssh/files'
import { SSH_NODES_AT_ONCE } from '../../model/limits/ssh'
import { fail } from '../failure'
import type { NodeContext } from '../context'
import { runOverSsh, sshFailure, sshFilesOf } from './exec'
import { type Failures, isMaster, type KeyHolder, listed, distribute, distributeToOthers } from './distribute-keys'

export interface Renewal {
  readonly nodes: readonly KeyHolder[]
  readonly candidateUuids: readonly string[]
  readonly potentialCandidates: readonly string[]
  readonly oldType: string
  readonly newType: 'dsa' | 'ecdsa' | 'rsa'
  readonly bits: number
}

/** Until the nodes know it, the master's new key stays beside its old one. */
const MASTER_SUFFIX = '_master_tmp'

export async function renewKeys(context: NodeContext, renewal: Renewal): Promise<Failures> {
  const { nodes, newType, bits } = renewal
  const files = sshFilesOf(context)
  const old = new Map(await files.publicKeys())
  const master = nodes.find(({ name }) => isMaster(context, name)) ?? fail('No (unique) master UUID found.')
  for (const { uuid, name } of nodes)
    if (!old.has(uuid)) fail(`No public key of node ${name} (UUID ${uuid}) found, not generating a new key.`)
  const keys = new Map(old)
  const failures = await newKeysOfOthers(context, renewal, (node, key) => keys.set(node.uuid, [key]))
  keys.set(master.uuid, [await files.generate(newType, bits, MASTER_SUFFIX)])
  await files.writePublicKeys(keys)

  const candidates = (all: ReadonlyMap<string, string[]>) =>
    listed(new Map([...all].filter(([uuid]) => uuid === master.uuid || renewal.candidateUuids.includes(uuid))))
  const [added, kept] = [candidates(keys), new Set([...keys.values()].flat())]
  const removed = Object.fromEntries(
    Object.entries(candidates(old)).map(([uuid, list]) => [uuid, list.filter((key) => !kept.has(key))]),
  )
  await files.authorize(Object.values(added).flat())
  const unaware = await distributeToOthers(context, [], (name) => ({
    authorized_keys: ['add', added],
    ...(renewal.potentialCandidates.includes(name) && { public_keys: ['override', listed(keys)] }),
  }))
  await files.install(newType, MASTER_SUFFIX)
  await files.forbid(Object.values(removed).flat())
  // A node that does not know the new keys would let nobody in to remove the old ones.
  const lost = unaware.map(([name]) => name)
  const left = await distributeToOthers(context, lost, () => ({ authorized_keys: ['remove', removed] }))
  return [...failures, ...unaware, ...left]
}

/** A node that makes no new key keeps its old one. */
async function newKeysOfOthers(
  context: NodeContext,
  { nodes, newType, bits }: Renewal,
  note: (node: KeyHolder, key: string) => unknown,
): Promise<Failures> {
  const failures: Failures = []
  const others = nodes.filter(({ name }) => !isMaster(context, name))
  await eachBounded(others, SSH_NODES_AT_ONCE, async (node) => {
    const problem = await distribute(context, node.name, { generate: [newType, bits, ''] })
    const read = problem ?? (await runOverSsh(context, node.name, { line: readKey(context, node.name, newType) }))
    const why = typeof read === 'string' ? read : sshFailure(read)
    if (typeof read !== 'string' && why === undefined) note(node, read.stdout.trim())
    else failures.push([node.name, `No new SSH key was made: ${why}`])
  })
  return failures
}

const readKey = (context: NodeContext, node: string, type: string): string =>
  `cat ${quoteForShell(pathOnNode(context.paths, node, `${sshKeyFile(type)}.pub`))}`
