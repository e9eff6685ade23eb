// Makes this node the first node and master of a new cluster (Ganeti's bootstrap.InitCluster). Checks everything before
// it writes anything, and undoes a partial failure. No daemon runs yet, and none is started here.
import type { Clock } from '../lib/clock'
import { withHost } from '../lib/file/hosts-file'
import type { Random } from '../lib/random'
import type { Run } from '../lib/programs/run-command'
import { SshFiles } from '../lib/ssh/files'
import type { FirstFields } from '../model/cluster'
import { PATH } from '../model/constants/paths'
import { createCluster } from './cluster-files'
import { makeDirectories } from './directories'
import { type InitChecks, type Places, type WantedCluster, checkNewCluster, stateFiles, textOf } from './init-checks'

export interface InitOptions extends InitChecks {
  clock: Clock
  random: Random
  run: Run
}

export async function initCluster(desired: WantedCluster, options: InitOptions): Promise<Places> {
  const { paths, disk } = options
  const { places, directories } = await checkNewCluster(desired, options)
  await makeDirectories(disk, paths)
  for (const directory of directories) await disk.makeDirectory(directory, 0o750)
  const hostKey = await sshHostKey(options)
  // The users of the remote API are the only file that may exist before the cluster.
  const users = (await disk.read(paths.rapiUsers))?.toString('utf8')
  const hostsFile = paths.local(PATH.ETC_HOSTS)
  const hosts = await textOf(disk, hostsFile)
  try {
    if (desired.cluster.modify_etc_hosts)
      await disk.write(hostsFile, withHost(hosts ?? '', places.host, places.hostAddress), { mode: 0o644 })
    if (hostKey !== '') await disk.write(paths.local(PATH.SSH_KNOWN_HOSTS_FILE), `${places.name} ssh-rsa ${hostKey}\n`)
    const { secondaryAddress } = desired
    const master = {
      name: places.host,
      address: places.hostAddress,
      paths,
      ...(secondaryAddress && { secondaryAddress }),
    }
    const cluster = { ...desired.cluster, rsahostkeypub: hostKey }
    const key = await ownSshKey(cluster, options)
    const { cluster: made } = await createCluster({ ...places, nodes: [master], cluster, users: users ?? '' }, options)
    if (key !== undefined) await new SshFiles(options).writePublicKeys(new Map([[made.master_node, [key]]]))
  } catch (error) {
    for (const file of await stateFiles(options)) await disk.remove(file)
    if (users === undefined) await disk.remove(paths.rapiUsers)
    if (hosts !== undefined) await disk.write(hostsFile, hosts, { mode: 0o644 })
    else if (desired.cluster.modify_etc_hosts) await disk.remove(hostsFile)
    throw error
  }
  return places
}

/** root's new key on this node, which may log in to all nodes; undefined if SSH is set up by other means. */
async function ownSshKey(cluster: FirstFields, options: InitOptions): Promise<string | undefined> {
  const { modify_ssh_setup, ssh_key_type, ssh_key_bits } = cluster
  if (!modify_ssh_setup || ssh_key_type === undefined || ssh_key_bits === undefined) return undefined
  return new SshFiles(options).generate(ssh_key_type, ssh_key_bits)
}

/** The node's SSH host key; a virtual node without its own uses the machine's. */
async function sshHostKey({ disk, paths }: InitOptions): Promise<string> {
  const file = '/etc/ssh/ssh_host_rsa_key.pub'
  const line = (await textOf(disk, paths.local(file))) ?? (await textOf(disk, file))
  return line?.split(' ')[1] ?? ''
}
