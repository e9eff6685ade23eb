// Looks at a cluster after an operation that lost answers. The configuration agrees with the nodes, or somebody is told what does not.
import * as path from 'node:path'
import { drbdId, logicalVolumes } from '../../../../src/config/lookup'
import { recordValues } from '../../../../src/config/records'
import { answerChecks } from '../../../../src/daemons/sim/checks'
import { World } from '../../../../src/daemons/sim/world'
import { seededRandom } from '../../../../src/lib/random'
import type { Disk } from '../../../../src/model/config'
import { FakeCluster } from '../../../support/fake-cluster'
import { storageCluster } from '../../../support/storage-cluster'
import { Outside } from './outside'
import type { Scenario } from './scenarios'

export interface Prepared {
  readonly cluster: FakeCluster
  readonly outside: Outside
}

/** What ran before takes as long as what is tried, so it runs once. */
const after = new Map<Scenario['before'], FakeCluster>()

async function clusterAfter(before: Scenario['before'] = NOTHING): Promise<FakeCluster> {
  const known = after.get(before)
  const cluster = known ?? storageCluster()
  if (known === undefined) for (const [op, params] of before) await cluster.run(op, params)
  after.set(before, cluster)
  const copy = new FakeCluster(cluster.config, World.restore(cluster.config, cluster.world.encode()), seededRandom(8))
  copy.gantry = cluster.gantry
  return copy
}
const NOTHING: NonNullable<Scenario['before']> = []

export async function prepared({ before, broken, prepare }: Scenario): Promise<Prepared> {
  const cluster = await clusterAfter(before)
  const outside = new Outside(cluster)
  const nodes = Object.values(cluster.config.nodes)
  cluster.replicas = nodes.map(({ uuid, name }) => ({ node: uuid, name, state: 'in sync', reason: null }))
  if (broken) cluster.world.node('node1.gnt.example').disks.clear()
  await prepare?.(cluster, outside)
  cluster.asked.length = cluster.changes.length = cluster.log.length = 0
  return { cluster, outside }
}

/** The volumes or files of a disk: what simulated nodes call them, and what people do. */
const partsOf = (disk: Disk): { key: string; names: readonly string[] }[] =>
  (disk.children.length > 0 ? disk.children : [disk]).map(({ dev_type, logical_id, uuid }) => {
    if (dev_type === 'plain') return { key: logical_id.join('/'), names: [logical_id.join('/')] }
    return { key: uuid, names: [disk.iv_name, path.dirname(String(logical_id[1]))] }
  })

/** What does not agree, each by the names of which somebody must read one. */
export function differences({ cluster, outside }: Prepared): (readonly string[])[] {
  const { config, world } = cluster
  if (config.cluster.master_node === '') return []
  // What verify says of the configuration is enough where it says what to do.
  const unsaid = cluster.inconsistencies().filter((text) => !text.includes("'gnt-"))
  const found: (readonly string[])[] = [...unsaid, ...outside.differences()].map((name) => [name])
  const all = recordValues(config.disks)
  const instances = recordValues(config.instances)
  const job = JSON.stringify(cluster.gantry)
  for (const { uuid, name } of recordValues(config.nodes)) {
    const there = world.node(name)
    const own = all.filter(({ nodes }) => nodes.includes(uuid))
    const whole = own.filter(({ forthcoming }) => forthcoming !== true)
    const missing = whole.flatMap(partsOf).filter(({ key }) => !there.disks.has(key))
    found.push(...missing.map(({ names }) => names))
    const known = own.flatMap(partsOf).map(({ key }) => key)
    for (const [key, { logical_id }] of there.disks)
      if (!known.includes(key) && !job.includes(key.split('/')[1] ?? key)) found.push([String(logical_id.at(-1))])
    const minors = all.flatMap((disk) => {
      const id = drbdId(disk)
      return id === undefined ? [] : [[id.nodeA, id.minorA], [id.nodeB, id.minorB]] // prettier-ignore
    })
    for (const minor of there.minors)
      if (!minors.some(([node, number]) => node === uuid && number === minor))
        found.push([`drbd minor ${minor} is in use`])
    for (const guest of there.instances.keys()) {
      const instance = instances.find((one) => one.name === guest && one.primary_node === uuid)
      if (instance === undefined) found.push([guest])
      else if (instance.disks.length > 0 && !instance.disks_active) found.push([`${guest} runs on inactive disks`])
      for (const disk of (instance?.disks ?? []).flatMap((one) => config.disks[one] ?? [])) {
        const id = drbdId(disk)
        const minor = id?.nodeA === uuid ? id.minorA : id?.minorB
        if (minor !== undefined && !there.minors.has(minor))
          found.push([`${guest} has lost the device of ${disk.iv_name}`])
      }
    }
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
  cluster.isUnreachable = () => false
  cluster.losesAnswer = () => false
  cluster.refuses = () => false
  cluster.answers.node_verify = ({ name }, [checks]) =>
    answerChecks({ world: cluster.world, node: name, clock: cluster.clock }, checks)
  const skipped = { skip_checks: [], ignore_errors: [], verify_clutter: false }
  const displayed = { error_codes: true, debug_simulate_errors: false, verbose: false }
  const [{ name } = { name: '' }] = recordValues(cluster.config.nodegroups)
  // Nothing verifies a cluster that was given up.
  if (cluster.config.cluster.master_node === '') return ''
  await cluster.run('OP_CLUSTER_VERIFY_GROUP', { group_name: name, ...displayed, ...skipped })
  return cluster.log.slice(start).join('\n')
}

/** Runs the scenario to its end. Returns what is wrong and told by nobody. */
export async function audited(one: Prepared, scenario: Scenario, what: string, isDead = false): Promise<string[]> {
  const { cluster } = one
  const { op, params } = scenario
  const error = await cluster.run(op, params).then(
    () => '',
    (reason: unknown) => String(reason),
  )
  const reported = [error, ...cluster.log].join('\n')
  const open = differences(one)
  // Nothing can be undone on a node that stays away.
  const gone = takesAway(scenario) || isDead ? [] : lacking(cluster)
  const verify = await verified(cluster)
  const missed = open.filter((names) => !names.some((name) => `${reported}\n${verify}`.includes(name)))
  const lost = recordValues(cluster.config.disks).filter((disk) => {
    const has = (uuid: string) => {
      const there = cluster.world.node(cluster.config.nodes[uuid as never]?.name ?? '').disks
      return there.has(partsOf(disk)[0]?.key ?? '')
    }
    return disk.forthcoming !== true && !disk.nodes.some(has)
  })
  const removed =
    lost.length > 0 && /'(lvremove|rm) [^']*(_data|disk\d+)'/.test(verify) ? ['verify removes a disk'] : []
  return [
    ...missed.map((names) => names.join(' or ')),
    ...gone.map((name) => `${name} is gone, and the configuration has it`),
    ...removed,
  ].map((problem) => `${what}: ${problem} (${error})`)
}
