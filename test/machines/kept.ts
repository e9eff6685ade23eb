// What a cluster keeps when another product takes it over: the secrets of its nodes, its objects, and all its jobs, archived ones too.
import type { Machines } from './machines'

/** On every node. Certificates lie beside their keys. */
const SECRETS = [
  ...['*.pem', 'hmac.key', 'cluster-domain-secret', 'known_hosts', 'ganeti_pub_keys', 'rapi/users'].map(
    (name) => `/var/lib/ganeti/${name}`,
  ),
  ...['/etc/ssh/ssh_host_*', '/root/.ssh/id_*', '/root/.ssh/authorized_keys'],
]
const ARCHIVE = '/var/lib/ganeti/queue/archive'
const OBJECTS = [
  'gnt-cluster list-tags',
  'gnt-node list -o name,role,group,pip,sip,tags',
  'gnt-group list -o name,alloc_policy,node_list,pinst_list,tags',
  'gnt-network list -o name,network,map,group_list,inst_list,tags',
  'gnt-instance list -o name,pnode,status,os,disk.sizes,nic.ips,nic.macs,nic.networks,be/memory,tags',
]
/** Both write summaries in words of their own. */
const JOBS = 'gnt-job list --archived -o id,status,opstatus,opresult,oplog,received_ts,start_ts,end_ts'

export interface Kept {
  /** The digests of files, by node. */
  readonly secrets: readonly string[]
  readonly objects: string
  readonly archive: readonly string[]
  readonly jobs: readonly string[]
}

export async function lookAtKept(machines: Machines, numbers: readonly number[]): Promise<Kept> {
  const [master = 1] = numbers
  const onMaster = (line: string) => machines.run(master, line)
  const table = (line: string) => onMaster(line.replace(' -o', ' --no-headers --separator=^ -o'))
  const objects: string[] = []
  for (const line of OBJECTS) objects.push(await table(line))
  return {
    secrets: await Promise.all(
      numbers.map((number) => machines.run(number, `sha256sum ${SECRETS.join(' ')} 2>/dev/null || true`)),
    ),
    objects: objects.join('\n'),
    archive: linesOf(await onMaster(`find ${ARCHIVE} -type f -exec sha256sum {} + | sort -k 2`)),
    jobs: linesOf(await table(JOBS)),
  }
}

/** Jobs that were there, and are not any more, or are others. */
export const jobsLost = (before: Kept, after: Kept): string[] => {
  const there = new Set([...after.jobs, ...after.archive])
  return [...before.jobs, ...before.archive].filter((line) => !there.has(line))
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '')
