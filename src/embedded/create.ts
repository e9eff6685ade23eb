// Makes the files of a new embedded cluster: virtual nodes on loopback addresses, or the copy of a recorded cluster.
import * as fs from 'node:fs/promises'
import * as path from 'node:path'
import { masterNode } from '../config/lookup'
import { loadConfig } from '../config/upgrade'
import { systemClock as clock } from '../lib/clock'
import { isMissing } from '../lib/disk'
import type { Paths } from '../lib/paths'
import { systemFiles as files } from '../lib/files'
import { systemRandom as random } from '../lib/random'
import { createCertificate, createClientCertificate } from '../lib/tls'
import type { Cluster, ConfigData } from '../model/config'
import { MODE } from '../model/constants/daemons'
import { HYPERVISORS, hvDefaults } from '../model/constants/hypervisors'
import { IPOLICY_DEFAULTS, NIC_DEFAULTS, USER_MODE_LINK } from '../model/constants/params'
import { PATH } from '../model/constants/paths'
import { ownedDisk as disk, ownedLockFile as lockFile } from '../model/owners'
import { createCluster, hashedPassword } from '../bootstrap/cluster-files'
import { makeDirectories } from '../bootstrap/directories'
import { USER_SPACE_HELPER } from '../node/storage/mirror-reports'
import { makeGroup } from '../node/storage/user/volumes'
import { chooseHypervisor } from './hypervisor-choice'
import {
  type Settings,
  addressAt,
  checkRootLength,
  mirrorsDir,
  nodePaths,
  passwordFile,
  recordedConfig,
  sharedDir,
  simState,
  writeSettings,
} from './layout'
import { type EmbeddedOptions, UsageError } from './options'

const DOMAIN = 'gantry.local'
const REALM = 'Ganeti Remote API'
/** The size of each node's volume group. It takes space only when data is written. */
const GROUP_SIZE_MIB = 64 * 1024
const DEFAULT_BASE = '127.0.1.0'
const DEFAULT_NODES = 3
const CLUSTER_HOST = 254

type Say = (text: string) => void

/** Decides what a new cluster will be, before ports are checked. */
export async function planSettings(options: EmbeddedOptions, say: Say): Promise<Settings> {
  const baseAddress = options.baseAddress ?? DEFAULT_BASE
  const clusterAddress = addressAt(baseAddress, CLUSTER_HOST)
  const basics = { version: 1 as const, baseAddress, clusterAddress }
  if (options.state !== undefined) {
    const master = masterNode(await recorded(options.state))
    if (master === undefined) throw new UsageError(`the configuration in ${options.state} has no master node`)
    checkRootLength(options.root, [master.name])
    const nodes = [{ name: master.name, address: addressAt(baseAddress, 1) }]
    return { ...basics, nodes, hypervisor: 'fake', simulated: true }
  }
  const choice = await chooseHypervisor(options.hypervisor)
  say(`hypervisor: ${choice.reason}`)
  const nodes = Array.from({ length: options.nodes ?? DEFAULT_NODES }, (_, index) => ({
    name: `node${index + 1}.${DOMAIN}`,
    address: addressAt(baseAddress, index + 1),
  }))
  checkRootLength(
    options.root,
    nodes.map(({ name }) => name),
  )
  return { ...basics, nodes, hypervisor: choice.name, simulated: false }
}

export async function create(options: EmbeddedOptions, settings: Settings, say: Say): Promise<void> {
  if (options.state === undefined) await createVirtual(options.root, settings, say)
  else await copyRecorded(options.root, options.state, settings, say)
  await writeSettings(options.root, settings)
}

async function createVirtual(root: string, settings: Settings, say: Say): Promise<void> {
  say(`making a cluster of ${settings.nodes.length} virtual nodes in ${root}`)
  const nodes = settings.nodes.map((node) => ({ ...node, paths: nodePaths(root, node.name) }))
  const [master, ...others] = nodes
  if (master === undefined) throw new UsageError('a cluster needs a node')
  await disk.makeDirectory(sharedDir(root), 0o755)
  await Promise.all(nodes.map(({ paths }) => makeStorage(root, paths)))
  const password = random.hex(12)
  await disk.write(passwordFile(root), `${password}\n`, { mode: MODE.secureFile })
  await createCluster(
    {
      name: `cluster.${DOMAIN}`,
      address: settings.clusterAddress,
      nodes: [master, ...others],
      cluster: clusterFields(settings),
      users: `# name password options\nadmin ${hashedPassword('admin', REALM, password)} read,write\n`,
    },
    { disk, clock, random, lockFile },
  )
}

/**
 * All nodes share one folder, because instances with shared files could not move otherwise. A virtual node has no administrator of its own,
 * so this sets up its storage.
 */
export async function makeStorage(root: string, paths: Paths): Promise<void> {
  await linkShared(root, paths)
  const mirrors = paths.local(PATH.MIRROR_LINKS_DIR)
  await files.mkdir(mirrorsDir(root), { recursive: true, mode: 0o700 })
  await files.rm(mirrors, { force: true })
  await files.symlink(path.relative(path.dirname(mirrors), mirrorsDir(root)), mirrors)
  await makeGroup(files, paths.local(PATH.USER_VOLUMES_DIR), VOLUME_GROUP, GROUP_SIZE_MIB)
}

async function linkShared(root: string, paths: Paths): Promise<void> {
  const link = paths.local(PATH.DEFAULT_SHARED_FILE_STORAGE_DIR)
  await disk.makeDirectory(path.dirname(link), 0o755)
  await fs.rm(link, { force: true })
  await fs.symlink(path.relative(path.dirname(link), sharedDir(root)), link)
  await disk.makeDirectory(path.dirname(paths.local(PATH.FILE_STORAGE_PATHS_FILE)), 0o755)
  const allowed = [PATH.DEFAULT_FILE_STORAGE_DIR, PATH.DEFAULT_SHARED_FILE_STORAGE_DIR]
  await disk.write(paths.local(PATH.FILE_STORAGE_PATHS_FILE), allowed.join('\n') + '\n', {
    mode: 0o644,
    durable: false,
  })
}

const VOLUME_GROUP = 'xenvg'
const TEMPLATES = ['sharedfile', 'file', 'plain', 'drbd', 'diskless'] as const

/** Settings that fit small machines. Disks are files. */
function clusterFields({ hypervisor, nodes }: Settings): Partial<Cluster> {
  const smallest = {
    'memory-size': 1,
    'disk-size': 1,
    'disk-count': 0,
    'cpu-count': 1,
    'nic-count': 0,
    'spindle-use': 1,
  }
  return {
    enabled_hypervisors: hypervisor === 'kvm' ? ['kvm', 'fake'] : ['fake'],
    enabled_disk_templates: [...TEMPLATES],
    volume_group_name: VOLUME_GROUP,
    drbd_usermode_helper: USER_SPACE_HELPER,
    // In a cluster with one node no other could take over the instances, so capacity checks would refuse all.
    default_iallocator_params: nodes.length === 1 ? { 'no-capacity-checks': '' } : {},
    // Guests boot from their disks: this machine has no kernel for them.
    hvparams: Object.fromEntries(
      HYPERVISORS.map((name) => [
        name,
        { ...hvDefaults(name), ...(name === 'kvm' ? { kernel_path: '', kernel_args: '' } : {}) },
      ]),
    ),
    master_netdev: 'lo',
    // No bridge has this name, so guests get QEMU's own network, and `gnt instance info` says so.
    nicparams: { default: { ...NIC_DEFAULTS, link: USER_MODE_LINK } },
    modify_etc_hosts: false,
    modify_ssh_setup: false,
    ipolicy: { ...IPOLICY_DEFAULTS, minmax: IPOLICY_DEFAULTS.minmax.map(({ max }) => ({ min: smallest, max })) },
  }
}

async function recorded(state: string, say?: Say): Promise<ConfigData> {
  const text = await disk.read(path.join(state, 'config.data'))
  if (text === undefined)
    throw new UsageError(`--state ${state}: there is no config.data; name a copy of a master's /var/lib/ganeti`)
  const { config, notices } = loadConfig(text.toString('utf8'), random)
  for (const notice of notices) say?.(`notice: ${notice}`)
  return config
}

const COPIED_FILES = /^(config\.data|ssconf_.*|hmac\.key|cluster-domain-secret|gantry\.data)$/

async function copyRecorded(root: string, state: string, settings: Settings, say: Say): Promise<void> {
  const [master] = settings.nodes
  if (master === undefined) throw new UsageError('a cluster needs a node')
  const config = await recorded(state, say)
  const count = Object.keys(config.nodes).length
  say(
    `copying the recorded cluster ${config.cluster.cluster_name} with ${count} nodes, which are simulated, to ${root}`,
  )
  const paths = nodePaths(root, master.name)
  await makeDirectories(disk, paths)
  await disk.remove(simState(root))
  for (const name of await disk.list(state))
    if (COPIED_FILES.test(name)) await copyFile(path.join(state, name), path.join(paths.dataDir, name))
  await copyFile(path.join(state, 'config.data'), recordedConfig(root))
  if ((await disk.list(path.join(state, 'queue'))).length > 0)
    await fs.cp(path.join(state, 'queue'), paths.queueDir, { recursive: true })
  // Copies of read-only recordings must be writable here.
  await makeWritable(paths.queueDir)
  await recordedUsers(root, state, paths.rapiUsers, say)
  const serverPem = await createCertificate()
  await disk.write(paths.serverCert, serverPem)
  await disk.write(paths.clientCert, await createClientCertificate(serverPem, master.name))
  // Recordings lack these files.
  for (const file of [paths.domainSecret, paths.hmacKey])
    if ((await disk.read(file)) === undefined) await disk.write(file, `${random.hex(20)}\n`)
  const names = settings.nodes.map(({ address }) => address)
  await disk.write(paths.rapiCert, await createCertificate({ names: [...names, settings.clusterAddress] }))
}

/** The imported users stay valid. Only if there are none, an admin is added. */
async function recordedUsers(root: string, state: string, file: string, say: Say): Promise<void> {
  const users = await disk.read(path.join(state, 'rapi', 'users'))
  if (users !== undefined) return disk.write(file, users)
  const password = random.hex(12)
  await disk.write(passwordFile(root), `${password}\n`, { mode: MODE.secureFile })
  await disk.write(file, `admin ${hashedPassword('admin', REALM, password)} read,write\n`)
  say('the recorded cluster has no users of the remote API: an admin was made')
}

async function copyFile(from: string, to: string): Promise<void> {
  const content = await disk.read(from)
  if (content !== undefined) await disk.write(to, content, { mode: MODE.config, durable: false })
}

async function makeWritable(directory: string): Promise<void> {
  try {
    await fs.chmod(directory, 0o750)
    for (const entry of await fs.readdir(directory, { withFileTypes: true })) {
      const file = path.join(directory, entry.name)
      if (entry.isDirectory()) await makeWritable(file)
      else await fs.chmod(file, MODE.queueFile)
    }
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}
