// Virtual nodes that leave an embedded cluster, and new ones that join it. In a real cluster the command line prepares
// new nodes over SSH, before the job that adds them.
import { existsSync } from 'node:fs'
import { nodeSetupSocket } from '../lib/net/find-socket'
import { type FramedServer, isServed } from '../lib/net/json-socket'
import { silentLog } from '../lib/log'
import { ECODE, GenericError, OpPrereqError } from '../model/errors'
import { EMBEDDED_NODES_MAX, NODE_SETUP_BYTES_MAX } from '../model/limits/embedded'
import { ownedDisk as disk } from '../model/owners'
import { serveCalls } from '../rpc/json-protocol'
import { writeJoiningNode } from '../bootstrap/cluster-files'
import { makeStorage } from './create'
import { type Settings, addressAt, nodePaths } from './layout'
import { UsageError } from './options'

export interface VirtualNode {
  name: string
  address: string
}

/** Prepares a node with this name to be added. Returns it with its full name. */
export type PrepareNode = (name: string) => Promise<VirtualNode>

/**
 * Allows one process for each root: the kernel frees the socket when the process dies. `gnt node add` asks for a node
 * through it; `prepare` is undefined until the cluster runs.
 */
export async function lockRoot(root: string, prepare: () => PrepareNode | undefined): Promise<FramedServer> {
  await refuseRunning(root)
  return serveCalls(
    { path: nodeSetupSocket(root), mode: 0o600, maxFrame: NODE_SETUP_BYTES_MAX, log: silentLog },
    {
      prepareNode: (args) => {
        const [name] = Array.isArray(args) ? (args as unknown[]) : []
        if (typeof name !== 'string') throw new GenericError('prepareNode takes the name of a node')
        const ready = prepare()
        if (ready === undefined) throw new GenericError('The cluster has no virtual nodes to add now; try again soon')
        return ready(name)
      },
    },
  )
}

/**
 * Also checked before a build, which a running cluster does not need.
 * @public scripts/start.mjs calls it before it builds anything.
 */
export async function refuseRunning(root: string): Promise<void> {
  if (await isServed(nodeSetupSocket(root)))
    throw new UsageError(
      `the cluster in ${root} is running already: use it, stop it, or name another --root and --base-address`,
    )
}

/** The name and address of a node to prepare: `node4`, with or without the domain of the others. */
export function wantedNode(settings: Settings, input: string): VirtualNode {
  const domain = (settings.nodes[0]?.name ?? '').replace(/^[^.]*/, '')
  const name = input.endsWith(domain) ? input : `${input}${domain}`
  const [, number = ''] = /^node(\d{1,3})$/.exec(name.slice(0, -domain.length)) ?? []
  const index = Number(number)
  if (!(index >= 1 && index <= EMBEDDED_NODES_MAX) || number !== String(index))
    throw new OpPrereqError(
      `'${input}' cannot be a node of this embedded cluster: its nodes are node1${domain} to node${EMBEDDED_NODES_MAX}${domain}`,
      ECODE.INVAL,
    )
  return { name, address: addressAt(settings.baseAddress, index) }
}

/** Writes the files that a node needs to join the master's cluster. */
export async function writeNodeFiles(root: string, settings: Settings, { name }: VirtualNode): Promise<void> {
  const master = settings.nodes[0]
  if (master === undefined) throw new GenericError('the cluster has no master')
  const paths = nodePaths(root, name)
  await makeStorage(root, paths)
  await writeJoiningNode(disk, { name, paths }, nodePaths(root, master.name))
}

/** Drops nodes that have left without this being noted: they have no files to start with. The master always has. */
export function withoutLeft(root: string, settings: Settings): { settings: Settings; left: string[] } {
  const [master, ...others] = settings.nodes
  if (settings.simulated || master === undefined) return { settings, left: [] }
  const stays = ({ name }: VirtualNode) => existsSync(nodePaths(root, name).serverCert)
  return {
    settings: { ...settings, nodes: [master, ...others.filter(stays)] },
    left: others.filter((node) => !stays(node)).map(({ name }) => name),
  }
}
