// Finds things on the nodes that are not in the configuration. `gnt cluster verify` must name them.
import * as path from 'node:path'
import type { EmbeddedCluster } from './embedded-cluster'
import { fakeGuests, processesOf, sharedDisks, withWconfd } from './faults'
import type { Users } from './faults-users'
import * as fs from 'node:fs'

export interface Stray {
  text: string
  /** The report must contain one of these words. */
  names: string[]
}

export async function strays(cluster: EmbeddedCluster): Promise<Stray[]> {
  const config = await withWconfd(cluster, (wconfd) => wconfd.readConfig())
  const nodeNames = new Map(Object.values(config.nodes).map(({ uuid, name }) => [String(uuid), name]))
  const instances = new Map(Object.values(config.instances).map((instance) => [instance.name, instance]))
  const found: Stray[] = []
  const guests = runningGuests(cluster)
  for (const [node, name] of guests) {
    const instance = instances.get(name)
    if (instance === undefined) found.push({ text: `${name} runs on ${node}, and is unknown`, names: [name] })
    else if (nodeNames.get(String(instance.primary_node)) !== node)
      found.push({ text: `${name} runs on ${node}, which is not its primary node`, names: [name] })
    else if (instance.admin_state !== 'up')
      found.push({ text: `${name} runs on ${node}, and should not`, names: [name] })
  }
  for (const { name, admin_state, forthcoming } of instances.values())
    if (forthcoming === true) found.push({ text: `${name} is only half made`, names: [name] })
    else if (admin_state === 'up' && !guests.some(([, guest]) => guest === name))
      found.push({ text: `${name} should run, and does not`, names: [name] })
  const desired = new Map<string, unknown>(
    Object.values(config.disks).map((disk) => {
      const file = String(disk.logical_id[1])
      return [`${path.basename(path.dirname(file))}/${path.basename(file)}`, disk] as const
    }),
  )
  const there = sharedDisks(cluster)
  for (const file of there)
    if (!desired.has(file)) found.push({ text: `nobody owns the disk file ${file}`, names: [path.basename(file)] })
  for (const file of desired.keys())
    if (!there.includes(file))
      found.push({ text: `the disk file ${file} is missing`, names: [path.basename(file), path.dirname(file)] })
  return found
}

/** Read from the node's files and processes. */
function runningGuests(cluster: EmbeddedCluster): [node: string, name: string][] {
  const real = processesOf(cluster.root)
    .filter(({ role }) => role === 'qemu')
    .map(({ pid, node }): [string, string] => {
      const command = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      return [node, command[command.indexOf('-name') + 1]?.split(',')[0] ?? '']
    })
  return [...fakeGuests(cluster), ...real]
}

/** Promises of acknowledged jobs that the cluster did not keep. */
export async function unbelievable(cluster: EmbeddedCluster, users: Users): Promise<string[]> {
  const config = await withWconfd(cluster, (wconfd) => wconfd.readConfig())
  const names = new Set(Object.values(config.instances).map(({ name }) => name))
  const guests = runningGuests(cluster).map(([, name]) => name)
  const wrong: string[] = []
  for (const [name, { exists, running }] of users.instances) {
    if (exists !== undefined && exists !== names.has(name)) wrong.push(`${name} should ${exists ? '' : 'not '}exist`)
    if (running !== undefined && running !== guests.includes(name))
      wrong.push(`${name} should ${running ? '' : 'not '}run`)
  }
  for (const [tag, there] of users.tags)
    if (there !== undefined && there !== config.cluster.tags.includes(tag))
      wrong.push(`tag ${tag} should ${there ? '' : 'not '}be there`)
  const { candidate_pool_size } = config.cluster
  const sizes = [users.poolSize, ...users.askedPoolSizes]
  if (users.poolSize !== undefined && !sizes.includes(candidate_pool_size))
    wrong.push(`the candidate pool size should be ${users.poolSize}, and is ${candidate_pool_size}`)
  return wrong
}
