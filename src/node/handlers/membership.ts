// Node calls about this node's place in the cluster: master or not, candidate or not, member or not.
import { isIP } from 'node:net'
import * as path from 'node:path'
import type { Files } from '../../lib/files'
import { withHost } from '../../lib/file/hosts-file'
import { quarantineCopy } from '../../lib/file/quarantine'
import { SSH_KEY_TYPES } from '../../lib/ssh/files'
import { certificateDigest, createClientCertificate } from '../../lib/tls'
import { FOREIGN_DAEMONS } from '../../model/constants/daemons'
import { PATH } from '../../model/constants/paths'
import { SET_ASIDE_MAX } from '../../model/limits/daemons'
import { isObject } from '../../lib/shapes/shape'
import { isDaemonOfNode, type Role } from '../../roles/role'
import { ROLES } from '../../roles/table'
import type { Handlers, NodeContext } from '../context'
import { fail } from '../failure'
import { changeMasterIp, changeMasterNetmask } from '../network/master-ip'
import { sshFilesOf } from '../ssh/exec'
import { withConfigFiles } from '../uploads'
import { fileHandlers } from './files'

const HOST_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/

/** A node that leaves the cluster stops these at once. noded still has to answer, so it and its parent end afterwards. */
const OTHER_DAEMONS = (ROLES as readonly Role[]).filter(
  ({ name, place, nodes }) => nodes !== 'simulated' && (place === 'node' || place === 'candidate') && name !== 'noded',
)

const KNOWN_DAEMONS: ReadonlySet<string> = new Set([
  ...ROLES.filter(isDaemonOfNode).map(({ program }) => program),
  ...FOREIGN_DAEMONS,
])

export const membershipHandlers = {
  gantry_metrics: (context) => context.measures.told(),

  master_node_name: (context) => context.ssconf.value('master_node') ?? fail('This node does not know the master node'),

  async node_start_master_daemons(context, noVoting) {
    await context.daemons.startMaster(noVoting)
    return null
  },

  async node_stop_master(context) {
    await context.daemons.stopMaster()
    return null
  },

  async node_ensure_daemon(context, daemon, run) {
    if (!KNOWN_DAEMONS.has(daemon)) fail(`Unknown daemon '${daemon}'`)
    return context.daemons.ensure(daemon, run)
  },

  async node_activate_master_ip(context, params, external) {
    await changeMasterIp(context, 'start', params, external)
    return null
  },

  async node_deactivate_master_ip(context, params, external) {
    await changeMasterIp(context, 'stop', params, external)
    return null
  },

  async node_change_master_netmask(context, oldNetmask, netmask, address, device) {
    await changeMasterNetmask(context, oldNetmask, netmask, address, device)
    return null
  },

  /**
   * `get` returns the digest of the client certificate; `create` first makes a new one. `install` is ours: the
   * certificate created with the option `cert_file` replaces the current one.
   */
  async node_crypto_tokens(context, requests) {
    const answers: [string, string][] = []
    for (const [type, action, options] of requests) {
      if (type !== 'ssl') fail(`Unknown type of crypto token '${type}'`)
      const file = certificateFile(context, options)
      if (action === 'create') await createCertificate(context, file)
      else if (action === 'install') await context.disk.rename(file, context.paths.clientCert)
      else if (action !== 'get') fail(`Unknown action '${action}' for crypto tokens`)
      answers.push([type, await digestOf(context, action === 'create' ? file : context.paths.clientCert)])
    }
    return answers
  },

  /** The configuration stays as a backup next to its old place. */
  async node_demote_from_mc(context) {
    const { configFile, journalFile, gantryFile } = context.paths
    if (context.ssconf.value('master_node') === context.hostname) fail('This node is the master: it cannot be demoted')
    await withConfigFiles(context, async () => {
      const config = await context.disk.read(configFile)
      // Only root may read backups, whoever could read the configuration.
      if (config !== undefined) await quarantineCopy(configFile, 'backup', config, { ...context, most: SET_ASIDE_MAX })
      await Promise.all([configFile, journalFile, gantryFile].map((file) => context.disk.remove(file)))
    })
    // Jobs have private OS parameters of instances. A candidate gets the whole queue.
    await fileHandlers.jobqueue_purge(context)
    return null
  },

  async node_leave_cluster(context, modifySshSetup) {
    const { paths, disk } = context
    if (modifySshSetup) await forgetOwnKeys(context)
    await withConfigFiles(context, async () => {
      await fileHandlers.jobqueue_purge(context)
      for (const directory of [paths.dataDir, paths.queueDir, paths.local(PATH.CRYPTO_KEYS_DIR)])
        await removeFiles(context.files, directory)
    })
    await disk.remove(paths.rapiUsers)
    await Promise.all(OTHER_DAEMONS.map(({ program }) => context.daemons.ensure(program, false)))
    context.daemons.leave()
    return 'Shutdown scheduled'
  },

  /** Edits this node's hosts file: one line per address. */
  async etc_hosts_modify(context, mode, name, address) {
    const file = context.paths.local(PATH.ETC_HOSTS)
    const old = (await context.disk.read(file))?.toString('utf8') ?? ''
    if (mode !== 'add' && mode !== 'remove') fail(`Unknown mode '${mode}', known are add and remove`)
    if (!HOST_NAME.test(name)) fail(`Invalid name of a host: ${JSON.stringify(name)}`)
    if (address !== null && isIP(address) === 0) fail(`Invalid address of a host: ${JSON.stringify(address)}`)
    const desired = mode === 'add' ? (address ?? fail('Adding a host needs its address')) : undefined
    await context.disk.write(file, withHost(old, name, desired), { mode: 0o644 })
    return true as const
  },
} satisfies Partial<Handlers>

/** Makes the node's own key pair useless for logging in here. The pair itself is kept, because it may be in use elsewhere. */
async function forgetOwnKeys(context: NodeContext): Promise<void> {
  const files = sshFilesOf(context)
  const keys = await Promise.all(SSH_KEY_TYPES.map((type) => files.ownKey(type)))
  await files.forbid(keys.filter((key) => key !== undefined))
}

async function digestOf({ disk, paths }: NodeContext, file: string): Promise<string> {
  const pem = await disk.read(file)
  return pem === undefined ? fail(`This node has no client certificate ${paths.virtual(file)}`) : certificateDigest(pem)
}

/** A renewal writes the new certificate next to the current one first. */
function certificateFile({ paths }: NodeContext, options: unknown): string {
  const desired = isObject(options) ? options['cert_file'] : undefined
  const file = typeof desired === 'string' ? paths.fromWire(desired) : paths.clientCert
  if (path.dirname(file) !== paths.dataDir || !path.basename(file).startsWith('client.pem'))
    fail(`Client certificates are not kept in '${paths.virtual(file)}'`)
  return file
}

async function createCertificate({ paths, disk, clock, random, hostname }: NodeContext, file: string): Promise<void> {
  const server = (await disk.read(paths.serverCert)) ?? fail('This node has no cluster certificate')
  const pem = await createClientCertificate(server.toString('utf8'), hostname, { clock, random })
  await disk.write(file, pem)
}

async function removeFiles(files: Files, directory: string): Promise<void> {
  const entries = await files.readdir(directory, { withFileTypes: true }).catch(() => [])
  await Promise.all(
    entries.filter((entry) => entry.isFile()).map((entry) => files.rm(path.join(directory, entry.name))),
  )
}
