// Every unit, while the answer of each of its changes and of each of its orders to nodes is lost once. Then the configuration, the
// volumes, minors and guests agree, or the job or verify names what does not; and verify removes no disk's only copy.
import { drbdId, logicalVolumes } from '../../../src/config/lookup'
import { recordValues } from '../../../src/config/records'
import { answerChecks } from '../../../src/daemons/sim/checks'
import { opcodeIds } from '../../../src/opcodes/index'
import { callOf } from '../../../src/rpc/node/calls'
import type { FakeCluster } from '../../support/fake-cluster'
import { drbdInstance, plainInstance, storageCluster } from '../../support/storage-cluster'

type Params = Readonly<Record<string, unknown>>
interface Scenario {
  readonly op: string
  readonly params: Params
  /** What ran before. */
  readonly before?: readonly (readonly [op: string, params: Params])[]
  /** Whether the volumes of the first node are gone. */
  readonly broken?: true
}

const plain = { instance_name: plainInstance.instance_name }
const drbd = { instance_name: drbdInstance.instance_name }
const stoppedPlain = { ...plainInstance, start: false }
const stoppedDrbd = { ...drbdInstance, start: false }
const replace = { ...drbd, early_release: false, ignore_ipolicy: false }
const having = (instance: Params) => [['OP_INSTANCE_CREATE', instance]] as const
const GROUP = { group_name: 'default' }
const NODE = { node_name: 'node3.gnt.example' }
const OTHER = { group_name: 'other' }
const TAGS = { kind: 'cluster', tags: ['one'], name: null }
const SNAPSHOT = { ...plain, disks: [[0, { snapshot_name: 'one' }]] }
const NET = { network_name: 'net1' }
const NEW_NET = { ...NET, network: '192.0.2.0/24' }
const CONNECTED = { ...NET, ...GROUP, network_mode: 'bridged', network_link: 'br0' }

const SCENARIOS: readonly Scenario[] = [
  { op: 'OP_INSTANCE_CREATE', params: plainInstance },
  { op: 'OP_INSTANCE_CREATE', params: drbdInstance },
  { op: 'OP_INSTANCE_REMOVE', params: { ...drbd, ignore_failures: false }, before: having(drbdInstance) },
  { op: 'OP_INSTANCE_STARTUP', params: drbd, before: having(stoppedDrbd) },
  { op: 'OP_INSTANCE_SHUTDOWN', params: drbd, before: having(drbdInstance) },
  { op: 'OP_INSTANCE_REBOOT', params: { ...drbd, reboot_type: 'hard' }, before: having(drbdInstance) },
  { op: 'OP_INSTANCE_RENAME', params: { ...plain, new_name: 'inst9.gnt.example', name_check: false, ip_check: false }, before: having(stoppedPlain) }, // prettier-ignore
  ...['replace_on_primary', 'replace_on_secondary'].map((mode) => ({ op: 'OP_INSTANCE_REPLACE_DISKS', params: { ...replace, mode }, before: having(drbdInstance) })), // prettier-ignore
  { op: 'OP_INSTANCE_REPLACE_DISKS', params: { ...replace, mode: 'replace_new_secondary', remote_node: NODE.node_name }, before: having(drbdInstance) }, // prettier-ignore
  { op: 'OP_INSTANCE_FAILOVER', params: { ...drbd, ignore_consistency: false }, before: having(drbdInstance) },
  { op: 'OP_INSTANCE_MOVE', params: { ...plain, target_node: NODE.node_name }, before: having(stoppedPlain) },
  { op: 'OP_INSTANCE_ACTIVATE_DISKS', params: drbd, before: having(stoppedDrbd) },
  { op: 'OP_INSTANCE_DEACTIVATE_DISKS', params: drbd, before: having(stoppedDrbd) },
  { op: 'OP_INSTANCE_RECREATE_DISKS', params: { ...plain, nodes: [] }, before: having(stoppedPlain), broken: true },
  { op: 'OP_INSTANCE_SET_PARAMS', params: { ...plain, disk_template: 'drbd', remote_node: NODE.node_name }, before: having(stoppedPlain) }, // prettier-ignore
  { op: 'OP_INSTANCE_SET_PARAMS', params: { ...drbd, disk_template: 'plain' }, before: having(stoppedDrbd) },
  { op: 'OP_INSTANCE_SET_PARAMS', params: { ...drbd, disks: [['add', { size: 32 }]] }, before: having(stoppedDrbd) },
  { op: 'OP_INSTANCE_SET_PARAMS', params: { ...drbd, disks: [['remove', {}]] }, before: having({ ...stoppedDrbd, disks: [{ size: 64 }, { size: 32 }] }) }, // prettier-ignore
  {
    op: 'OP_INSTANCE_GROW_DISK',
    params: { ...drbd, disk: 0, amount: 32, wait_for_sync: true },
    before: having(stoppedDrbd),
  },
  {
    op: 'OP_INSTANCE_SNAPSHOT',
    params: { ...plain, disks: [[0, { snapshot_name: 'one' }]] },
    before: having(plainInstance),
  },
  { op: 'OP_GROUP_ADD', params: { group_name: 'other' } },
  { op: 'OP_GROUP_RENAME', params: { ...GROUP, new_name: 'renamed' } },
  { op: 'OP_GROUP_SET_PARAMS', params: { ...GROUP, alloc_policy: 'last_resort' } },
  { op: 'OP_NETWORK_ADD', params: { ...NET, network: '192.0.2.0/24' } },
  { op: 'OP_NODE_SET_PARAMS', params: { ...NODE, drained: true } },
  { op: 'OP_CLUSTER_SET_PARAMS', params: { candidate_pool_size: 2 } },
  { op: 'OP_GROUP_REMOVE', params: OTHER, before: [['OP_GROUP_ADD', OTHER]] },
  { op: 'OP_GROUP_ASSIGN_NODES', params: { ...OTHER, nodes: [NODE.node_name] }, before: [['OP_GROUP_ADD', OTHER]] },
  { op: 'OP_NETWORK_REMOVE', params: NET, before: [['OP_NETWORK_ADD', NEW_NET]] },
  { op: 'OP_NETWORK_RENAME', params: { ...NET, new_name: 'net2' }, before: [['OP_NETWORK_ADD', NEW_NET]] },
  { op: 'OP_NETWORK_SET_PARAMS', params: { ...NET, mac_prefix: 'aa:00:02' }, before: [['OP_NETWORK_ADD', NEW_NET]] },
  { op: 'OP_NETWORK_CONNECT', params: CONNECTED, before: [['OP_NETWORK_ADD', NEW_NET]] },
  { op: 'OP_NETWORK_DISCONNECT', params: { ...NET, ...GROUP }, before: [['OP_NETWORK_ADD', NEW_NET], ['OP_NETWORK_CONNECT', CONNECTED]] }, // prettier-ignore
  { op: 'OP_INSTANCE_REMOVE_SNAPSHOT', params: SNAPSHOT, before: [...having(plainInstance), ['OP_INSTANCE_SNAPSHOT', SNAPSHOT]] }, // prettier-ignore
  { op: 'OP_INSTANCE_REINSTALL', params: plain, before: having(stoppedPlain) },
  { op: 'OP_INSTANCE_MIGRATE', params: { ...drbd, mode: 'live' }, before: having(drbdInstance) },
  { op: 'OP_BACKUP_EXPORT', params: { ...plain, mode: 'local', target_node: NODE.node_name, shutdown: false }, before: having(plainInstance) }, // prettier-ignore
  { op: 'OP_NODE_REMOVE', params: NODE },
  { op: 'OP_CLUSTER_REPAIR_DISK_SIZES', params: { instances: [] }, before: having(drbdInstance) },
  { op: 'OP_TAGS_DEL', params: TAGS, before: [['OP_TAGS_SET', TAGS]] },
  { op: 'OP_TAGS_SET', params: TAGS },
]

/** Units that have no scenario, with the reason. */
const WITHOUT: readonly (readonly [why: string, names: RegExp])[] = [
  ['it changes nothing', /QUERY|VERIFY|_GET$|_SEARCH$|DIAGNOSE|CAPACITY|WHAT_IF|PREPARE|CONSOLE|OP_TEST_|POST_INIT/],
  ['it submits jobs or runs other units', /BALANCE|MULTI_ALLOC|EVACUATE|CHANGE_GROUP|NODE_MIGRATE|INSTANCE_REPAIR/],
  [
    'it changes no configuration',
    /REDIST_CONF|MASTER_IP|POWERCYCLE|OOB|REPAIR_COMMAND|RESTRICTED_COMMAND|_STORAGE$|BACKUP_REMOVE/,
  ],
  ['it touches no volume, minor or guest, and is repeated as a whole', /NODE_ADD|RENEW_CRYPTO|CLUSTER_RENAME/],
  ['nothing is left of the cluster', /CLUSTER_DESTROY/],
]

async function prepared({ before = [], broken }: Scenario): Promise<FakeCluster> {
  const cluster = storageCluster()
  const nodes = Object.values(cluster.config.nodes)
  cluster.replicas = nodes.map(({ uuid, name }) => ({ node: uuid, name, state: 'in sync', reason: null }))
  for (const [op, params] of before) await cluster.run(op, params)
  if (broken) cluster.world.node('node1.gnt.example').disks.clear()
  cluster.asked.length = cluster.changes.length = cluster.log.length = 0
  return cluster
}

/** What does not agree, each by the name that somebody must read. */
function differences(cluster: FakeCluster): string[] {
  const { config } = cluster
  const found = [...cluster.inconsistencies()]
  const instances = recordValues(config.instances)
  const whole = recordValues(config.disks).filter(({ forthcoming }) => forthcoming !== true)
  for (const { uuid, name } of recordValues(config.nodes)) {
    const there = cluster.world.node(name)
    const parts = (disks: readonly (typeof whole)[number][]) =>
      disks
        .filter(({ nodes }) => nodes.includes(uuid))
        .flatMap((disk) => (disk.children.length > 0 ? disk.children : [disk]).map(({ logical_id: [vg, lv] }) => `${String(vg)}/${String(lv)}`)) // prettier-ignore
    for (const volume of parts(whole)) if (!there.disks.has(volume)) found.push(volume)
    const known = parts(recordValues(config.disks))
    for (const volume of there.disks.keys())
      if (!known.includes(volume) && !JSON.stringify(cluster.gantry).includes(volume.split('/')[1] ?? ''))
        found.push(volume)
    const minors = recordValues(config.disks).flatMap((disk) => {
      const id = drbdId(disk)
      return id === undefined ? [] : [[id.nodeA, id.minorA], [id.nodeB, id.minorB]] // prettier-ignore
    })
    for (const minor of there.minors)
      if (!minors.some(([node, number]) => node === uuid && number === minor))
        found.push(`drbd minor ${minor} is in use`)
    for (const guest of there.instances.keys())
      if (!instances.some((one) => one.name === guest && one.primary_node === uuid)) found.push(guest)
  }
  return found
}

const takesAway = ({ op, params, broken }: Scenario): boolean =>
  broken === true || op === 'OP_INSTANCE_REMOVE' || JSON.stringify(params).includes('"remove"')

/** Volumes of whole disks that one of their nodes lacks. */
const lacking = ({ config, world }: FakeCluster): string[] =>
  recordValues(config.disks)
    .filter(({ forthcoming }) => forthcoming !== true)
    .flatMap((disk) =>
      disk.nodes.flatMap((uuid) => {
        const there = world.node(config.nodes[uuid]?.name ?? '').disks
        return logicalVolumes(disk)
          .map((own) => own.join('/'))
          .filter((volume) => !there.has(volume))
      }),
    )

async function verified(cluster: FakeCluster): Promise<string> {
  const start = cluster.log.length
  cluster.losing = undefined
  cluster.losesAnswer = () => false
  cluster.answers.node_verify = ({ name }, [checks]) =>
    answerChecks({ world: cluster.world, node: name, clock: cluster.clock }, checks)
  const skipped = { skip_checks: [], ignore_errors: [], verify_clutter: false }
  const shown = { error_codes: true, debug_simulate_errors: false, verbose: false }
  const [{ name } = { name: '' }] = recordValues(cluster.config.nodegroups)
  await cluster.run('OP_CLUSTER_VERIFY_GROUP', { group_name: name, ...shown, ...skipped })
  return cluster.log.slice(start).join('\n')
}

/** Runs the scenario to its end and looks at what is left. */
async function audited(cluster: FakeCluster, scenario: Scenario, what: string): Promise<string[]> {
  const { op, params } = scenario
  const error = await cluster.run(op, params).then(
    () => '',
    (reason: unknown) => String(reason),
  )
  const told = [error, ...cluster.log].join('\n')
  const open = differences(cluster)
  const gone = takesAway(scenario) ? [] : lacking(cluster)
  const verify = await verified(cluster)
  const missed = open.filter((name) => !`${told}\n${verify}`.includes(name))
  const lost = recordValues(cluster.config.disks).filter(({ forthcoming, nodes, children, logical_id }) => {
    const [vg, lv] = children[0]?.logical_id ?? logical_id
    const has = (uuid: string) =>
      cluster.world.node(cluster.config.nodes[uuid as never]?.name ?? '').disks.has(`${String(vg)}/${String(lv)}`)
    return forthcoming !== true && !nodes.some(has)
  })
  const removed =
    lost.length > 0 && /'(lvremove|rm) [^']*(_data|disk\d+)'/.test(verify) ? ['verify removes a disk'] : []
  return [...missed, ...gone.map((name) => `${name} is gone, and the configuration has it`), ...removed].map(
    (problem) => `${what}: ${problem} (${error})`,
  )
}

test.each(SCENARIOS.map((one) => [one.op, JSON.stringify(one.params).slice(0, 90), one] as const))(
  '%s %s',
  async (_op, _params, scenario) => {
    const whole = await prepared(scenario)
    let changes = 0
    whole.losesAnswer = () => (changes++, false)
    await whole.run(scenario.op, scenario.params)
    expect(differences(whole)).toEqual([])
    const problems: string[] = []
    for (let at = 0; at < changes; at++)
      for (const forGood of [false, true]) {
        const cluster = await prepared(scenario)
        let count = 0
        cluster.losesAnswer = (list) => (list.length === 0 ? forGood : count++ === at)
        problems.push(...(await audited(cluster, scenario, `change ${at}${forGood ? ' for good' : ''}`)))
      }
    const orders = whole.asked.flatMap(({ call }, at) => (callOf(call).kind === 'order' && call !== 'hooks_runner' ? [at] : [])) // prettier-ignore
    for (const at of orders)
      for (const when of ['before', 'after'] as const) {
        const cluster = await prepared(scenario)
        cluster.losing = () => (cluster.asked.length - 1 === at ? when : undefined)
        problems.push(...(await audited(cluster, scenario, `${whole.asked[at]?.call} ${at} ${when}`)))
      }
    expect(problems).toEqual([])
  },
)

test('every unit has a scenario, or there is a reason why not', () => {
  const covered = new Set(SCENARIOS.map(({ op }) => op))
  expect(opcodeIds.filter((id) => !covered.has(id) && !WITHOUT.some(([, names]) => names.test(id)))).toEqual([])
})
