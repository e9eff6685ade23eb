// Asks the master for the watcher's input: three queries for a node group, however many instances it has; or for some of its instances.
import { INSTANCE_STATUSES, type InstanceStatus } from '../../model/constants/words'
import type { QueryFilter, QueryResource } from '../../rpc/luxi/calls'
import type { Master } from '../../rpc/luxi/master'
import type { GroupState, Left, WatchedInstance, WatchedNode } from './decisions'

const INSTANCE_FIELDS = [
  ...['name', 'status', 'admin_state', 'disks_active', 'snodes', 'disk_template'],
  ...['pnode.group.uuid', 'snodes.group.uuid', 'forthcoming'],
]

const RUNNING: ReadonlySet<unknown> = new Set<InstanceStatus>(['running', 'ERROR_up'])

export async function askGroup(
  master: Pick<Master, 'query'>,
  group: string,
  only?: readonly string[],
): Promise<GroupState & { readonly left: readonly Left[] }> {
  const values = async (what: QueryResource, fields: readonly string[], filter: QueryFilter) =>
    (await master.query(what, fields, filter)).data.map((row) => row.map(([, value]) => value))
  const locks = await values('lock', ['name', 'mode'], null)
  const own: QueryFilter = ['==', 'pnode.group.uuid', group]
  const named: QueryFilter | undefined = only && ['&', own, ['|', ...only.map((name) => ['==', 'name', name])]]
  const rows = await values('instance', INSTANCE_FIELDS, named ?? own)
  const nodeRows = only ? [] : await values('node', ['name', 'bootid', 'offline'], ['==', 'group.uuid', group])
  const instances = new Map<string, WatchedInstance>()
  const left: Left[] = []
  for (const [name, status, admin, active, snodes, template, home, others, forthcoming] of rows) {
    const secondaries = texts(snodes)
    const elsewhere = texts(others).filter((uuid) => uuid !== home)
    if (secondaries.length > 0 && elsewhere.length > 0)
      left.push({ name: String(name), why: 'its secondary node is in another node group' })
    else
      instances.set(String(name), {
        ...{ name: String(name), status: statusOf(status), adminState: String(admin), secondaries },
        // A guest may run although its disks do not count as active, such as after a failover that failed.
        disksActive: (active === true || RUNNING.has(status)) && forthcoming !== true,
        template: String(template),
      })
  }
  const nodes = nodeRows.map(([name, boot, offline]): [string, WatchedNode] => [
    String(name),
    { name: String(name), bootId: typeof boot === 'string' && boot !== '' ? boot : null, offline: offline === true },
  ])
  return { instances, nodes: new Map(nodes), locked: lockedInstances(locks), left }
}

const LOCK = 'instance/'

const lockedInstances = (locks: readonly (readonly unknown[])[]): Set<string> =>
  new Set(
    locks.flatMap(([name, mode]) =>
      typeof name === 'string' && name.startsWith(LOCK) && mode ? [name.slice(LOCK.length)] : [],
    ),
  )

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

/** An unknown status gives the watcher nothing to act on. */
const statusOf = (value: unknown): InstanceStatus => INSTANCE_STATUSES.find((one) => one === value) ?? 'ERROR_nodedown'
