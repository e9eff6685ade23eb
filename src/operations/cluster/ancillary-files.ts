// Files besides the configuration that must be equal on all nodes: which nodes have them, with which owner and mode,
// and how they get there.
import { recordValues } from '../../config/records'
import type { Cluster, ConfigData, Node } from '../../model/config'
import { GROUP, USER } from '../../model/constants/daemons'
import { PATH } from '../../model/constants/paths'
import { filesOfHypervisor } from '../../model/hypervisor-files'
import { DISTRIBUTED_FILES_MAX } from '../../model/limits/node'
import { claimOfFile } from '../../model/owners'
import { isInFileSystem } from '../../model/templates'
import type { NodeResult } from '../../rpc/node/client'
import type { DistributedFile } from '../../rpc/node/dicts'
import type { UnitContext } from '../unit-context'
import { hvSources } from './verify/hv-sources'

export interface AncillaryFile {
  readonly path: string
  /** `vm`: only nodes that host instances. */
  readonly on: 'all' | 'vm'
  /** Either all nodes have it, or none. */
  readonly optional: boolean
  /**
   * How to write it on nodes: with a known owner and mode, or, for an administrator's file, with those of the master's copy. If missing,
   * each node's administrator maintains it.
   */
  readonly upload?: Claim | 'as it is' | 'secret'
}

interface Claim {
  readonly owner: string
  readonly group: string
  readonly mode: number
}

/** Ganeti's nodes take these administrators' files, too. */
const TAKEN_BY_ALL: readonly string[] = [PATH.NIC_SCRIPT, PATH.VNC_PASSWORD_FILE]

/** All instances of the configuration count. `listed`: the administrator's list. Without ssconf files and the configuration itself, which wconfd distributes. */
export function ancillaryFiles(config: ConfigData, listed: readonly string[]): AncillaryFile[] {
  const known = [...ALWAYS, ...onDemand(config.cluster), ...hypervisorFiles(config)]
  const further = [...new Set(listed)].filter((path) => known.every((file) => file.path !== path))
  return [...known, ...further.map((path) => ({ path, on: 'all', optional: true, upload: 'as it is' }) as const)]
}

function onDemand(cluster: Cluster): AncillaryFile[] {
  const found: AncillaryFile[] = []
  if (cluster.modify_etc_hosts)
    found.push({
      path: PATH.ETC_HOSTS,
      on: 'all',
      optional: false,
      upload: { owner: USER.noded, group: GROUP.noded, mode: 0o644 },
    })
  if (cluster.use_external_mip_script)
    found.push({ path: PATH.EXTERNAL_MASTER_SETUP_SCRIPT, on: 'all', optional: false })
  if (cluster.enabled_disk_templates.some(isInFileSystem))
    found.push({ path: PATH.FILE_STORAGE_PATHS_FILE, on: 'all', optional: true })
  return found
}

/** Those that any instance, system or default names, for the enabled hypervisors. */
function hypervisorFiles(config: ConfigData): AncillaryFile[] {
  const { enabled_hypervisors } = config.cluster
  const named = hvSources(config, recordValues(config.instances))
    .filter(([, hypervisor]) => enabled_hypervisors.includes(hypervisor))
    .flatMap(([, hypervisor, params]) => filesOfHypervisor(hypervisor, params))
  const secrets = new Set(named.filter(({ secret }) => secret).map(({ path }) => path))
  return [...new Set(named.map(({ path }) => path))].map((path) => {
    return { path, on: 'vm', optional: true, upload: secrets.has(path) ? 'secret' : 'as it is' }
  })
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
  {
    path: PATH.DISTRIBUTE_FILES,
    on: 'all',
    optional: true,
    upload: { owner: USER.noded, group: GROUP.noded, mode: 0o644 },
  },
]

/** The further files that the administrator lists on the master. Lines that are no absolute path are named to `complain`. */
export async function listedFiles(ctx: UnitContext, complain: (text: string) => void): Promise<string[]> {
  const text = (await ctx.env.masterFile?.(PATH.DISTRIBUTE_FILES)) ?? ''
  const lines = text.split('\n').map((line) => line.trim())
  const desired = lines.filter((line) => line !== '' && !line.startsWith('#'))
  const wrong = desired.find((line) => !isPlainPath(line))
  const ignored = (why: string) => complain(`${PATH.DISTRIBUTE_FILES} on the master: ${why}`)
  if (wrong !== undefined) ignored(`${JSON.stringify(wrong)} is no absolute path without '..', and is left out`)
  if (desired.length > DISTRIBUTED_FILES_MAX) ignored(`only the first ${DISTRIBUTED_FILES_MAX} lines count`)
  return desired.slice(0, DISTRIBUTED_FILES_MAX).filter(isPlainPath)
}

const isPlainPath = (line: string): boolean =>
  line.startsWith('/') &&
  !line.includes('\0') &&
  line
    .split('/')
    .slice(1)
    .every((part) => !['', '.', '..'].includes(part))

/** Sends the master's copies to these nodes. A node that refuses one causes a warning in the job's log. */
export async function sendAncillaryFiles(ctx: UnitContext, nodes: readonly Node[]): Promise<void> {
  const { masterFile } = ctx.env
  if (masterFile === undefined) return
  const config = await ctx.config.read({ nodes: [], instances: 'all' })
  const { master_node } = config.cluster
  const listed = await listedFiles(ctx, (text) => ctx.log.warning(text))
  const targets = nodes.filter((node) => node.uuid !== master_node && !node.offline)
  for (const { path, on, upload } of ancillaryFiles(config, listed)) {
    const receivers = on === 'all' ? targets : targets.filter((node) => node.vm_capable)
    if (upload === 'as it is' || upload === 'secret') await sendAsItIs(ctx, config, path, upload, receivers)
    else {
      const content = upload && (await masterFile(path))
      if (upload !== undefined && content !== undefined) await send(ctx, { path, content, ...upload }, receivers)
    }
  }
}

async function sendAsItIs(
  ctx: UnitContext,
  { cluster, nodes }: ConfigData,
  path: string,
  how: 'as it is' | 'secret',
  receivers: readonly Node[],
): Promise<void> {
  const master = nodes[cluster.master_node]
  if (master === undefined || receivers.length === 0) return
  const local = ctx.env.paths.local(path)
  const read = await ctx.nodes.attempt(master, 'gantry_distributed_read', [local])
  if (!read.ok) ctx.log.warning(`File ${path} is not distributed: ${read.error}`)
  if (!read.ok || read.payload === null) return
  const mode = how === 'secret' ? read.payload.mode & 0o600 : read.payload.mode
  const copy: DistributedFile = { ...read.payload, mode }
  if (TAKEN_BY_ALL.includes(path)) {
    const content = Buffer.from(copy.base64, 'base64').toString('utf8')
    return send(ctx, { path, content, owner: copy.owner, group: copy.group, mode }, receivers)
  }
  warnOf(ctx, path, receivers, await ctx.nodes.many(receivers, 'gantry_distributed_write', [local, copy]))
}

interface Copy extends Claim {
  readonly path: string
  readonly content: string
}

async function send(ctx: UnitContext, copy: Copy, receivers: readonly Node[]): Promise<void> {
  const file = { ...copy, path: ctx.env.paths.local(copy.path), atime: null, mtime: null }
  warnOf(ctx, copy.path, receivers, await ctx.nodes.many(receivers, 'upload_file', [file]))
}

function warnOf(
  ctx: UnitContext,
  path: string,
  receivers: readonly Node[],
  results: ReadonlyMap<string, NodeResult<null>>,
): void {
  for (const node of receivers) {
    const result = results.get(node.uuid)
    if (result?.ok !== true)
      ctx.log.warning(`Copy of file ${path} to node ${node.name} failed: ${result?.error ?? 'no answer'}`)
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
