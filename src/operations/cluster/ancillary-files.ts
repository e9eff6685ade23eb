// Files besides the configuration that must be equal on all nodes: which nodes have them, with which owner and mode,
// and how they get there.
import type { Cluster, Node } from '../../model/config'
import { GROUP, USER } from '../../model/constants/daemons'
import { PATH } from '../../model/constants/paths'
import { claimOfFile } from '../../model/owners'
import type { UnitContext } from '../unit-context'
import { isInFileSystem } from '../../model/templates'

export interface AncillaryFile {
  readonly path: string
  /** `vm`: only nodes that host instances. */
  readonly on: 'all' | 'vm'
  /** Either all nodes have it, or none. */
  readonly optional: boolean
  /** How to write it on nodes; if missing, each node's administrator maintains it. */
  readonly upload?: { readonly owner: string; readonly group: string; readonly mode: number }
}

/** Without ssconf files and the configuration itself, which wconfd distributes. */
export function ancillaryFiles(cluster: Cluster): AncillaryFile[] {
  const onDemand: AncillaryFile[] = []
  if (cluster.modify_etc_hosts)
    onDemand.push({
      path: PATH.ETC_HOSTS,
      on: 'all',
      optional: false,
      upload: { owner: USER.noded, group: GROUP.noded, mode: 0o644 },
    })
  if (cluster.use_external_mip_script)
    onDemand.push({ path: PATH.EXTERNAL_MASTER_SETUP_SCRIPT, on: 'all', optional: false })
  if (cluster.enabled_disk_templates.some(isInFileSystem))
    onDemand.push({ path: PATH.FILE_STORAGE_PATHS_FILE, on: 'all', optional: true })
  if (cluster.enabled_hypervisors.includes('kvm')) onDemand.push({ path: PATH.NIC_SCRIPT, on: 'vm', optional: true })
  if (cluster.enabled_hypervisors.includes('xen-hvm'))
    onDemand.push({
      ...{ path: PATH.VNC_PASSWORD_FILE, on: 'vm', optional: true },
      upload: claimOfFile(PATH.VNC_PASSWORD_FILE),
    })
  return [...ALWAYS, ...onDemand]
}

const sent = (path: string, optional: boolean): AncillaryFile => {
  return { path, on: 'all', optional, upload: claimOfFile(path) }
}

const ALWAYS: readonly AncillaryFile[] = [
  { path: PATH.NODED_CERT_FILE, on: 'all', optional: false },
  sent(PATH.RAPI_CERT_FILE, false),
  sent(PATH.CONFD_HMAC_KEY, false),
  sent(PATH.CLUSTER_DOMAIN_SECRET_FILE, false),
  sent(PATH.RAPI_USERS_FILE, true),
  sent(PATH.SSH_KNOWN_HOSTS_FILE, true),
  sent(PATH.SPICE_CERT_FILE, true),
  sent(PATH.SPICE_CACERT_FILE, true),
]

/** Sends the master's copies to these nodes. A node that refuses one causes a warning in the job's log. */
export async function sendAncillaryFiles(ctx: UnitContext, cluster: Cluster, nodes: readonly Node[]): Promise<void> {
  const { masterFile } = ctx.env
  if (masterFile === undefined) return
  const targets = nodes.filter((node) => node.uuid !== cluster.master_node && !node.offline)
  for (const { path, on, upload } of ancillaryFiles(cluster)) {
    const content = upload && (await masterFile(path))
    if (upload === undefined || content === undefined) continue
    const receivers = on === 'all' ? targets : targets.filter((node) => node.vm_capable)
    await send(ctx, { path, content, ...upload }, receivers)
  }
}

interface Copy {
  readonly path: string
  readonly content: string
  readonly owner: string
  readonly group: string
  readonly mode: number
}

async function send(ctx: UnitContext, copy: Copy, receivers: readonly Node[]): Promise<void> {
  const file = { ...copy, path: ctx.env.paths.local(copy.path), atime: null, mtime: null }
  const results = await ctx.nodes.many(receivers, 'upload_file', [file])
  for (const node of receivers) {
    const result = results.get(node.uuid)
    if (result?.ok !== true)
      ctx.log.warning(`Copy of file ${copy.path} to node ${node.name} failed: ${result?.error ?? 'no answer'}`)
  }
}

/** SSH clients look up nodes' host keys under the cluster's name, so a new name needs a new entry. */
export async function renameInKnownHosts(ctx: UnitContext, { cluster_name, master_node }: Cluster, name: string) {
  const path = PATH.SSH_KNOWN_HOSTS_FILE
  const old = await ctx.env.masterFile?.(path)
  const { nodes } = await ctx.config.read({ nodes: [master_node] })
  const master = nodes[master_node]
  if (old === undefined || master === undefined) return
  const renamed = (hosts: string) => hosts.split(',').map((host) => (host === cluster_name ? name : host)).join(',') // prettier-ignore
  const content = old.replace(/^[^\s#]+/gm, renamed)
  await send(ctx, { path, content, ...claimOfFile(path) }, [master])
}
