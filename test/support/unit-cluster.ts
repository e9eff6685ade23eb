// A cluster in memory for tests of operations: the real processor and the real configuration changes, locks that are always free and
// remembered, node calls that functions answer, and a record of everything that happened.
import { applyChange, change } from '../../src/config/changes'
import { initialConfig } from '../../src/config/init'
import { slice } from '../../src/config/slice'
import { EMPTY_GANTRY } from '../../src/config/upgrade'
import { pathsOf } from '../../src/lib/paths'
import { seededRandom } from '../../src/lib/random'
import type { Cluster, ConfigData, Disk, Instance, Node, NodeGroup } from '../../src/model/config'
import { GanetiError } from '../../src/model/errors'
import { diskUuid, groupUuid, instanceUuid, nodeUuid, type NodeUuid } from '../../src/model/ids'
import type { JobEnvironment } from '../../src/operations/environment'
import { planJob } from '../../src/operations/plan/plan'
import { runOpcode } from '../../src/operations/processor'
import type { ArgsOf, CallName, ResultOf } from '../../src/rpc/node/calls'
import type { NodeClient, NodeTarget } from '../../src/rpc/node/client'
import type { WireOpCode } from '../../src/rpc/luxi/calls'
import type { Planned } from '../../src/rpc/luxi/plan'
import type { NamedChange, Wconfd } from '../../src/rpc/wconfd/calls'
import { jobEnvironment, nodesThatAnswer, wconfdOf } from './job-surroundings'
import type { DiskTemplate } from '../../src/model/templates'

type Change = ReturnType<typeof change>
export type Answers = { [C in CallName]?: (node: NodeTarget, ...args: ArgsOf<C>) => ResultOf<C> }

export interface NodeCallRecord {
  readonly node: string
  readonly call: CallName
  readonly args: readonly unknown[]
}

export class UnitCluster {
  config: ConfigData
  /** The answers of nodes. A function that throws fails the call, and so does a missing entry. */
  answers: Answers = { hooks_runner: () => [] }
  readonly locks: string[] = []
  readonly log: string[] = []
  readonly calls: NodeCallRecord[] = []
  readonly jobs: WireOpCode[][] = []
  /** How often everything was sent to all nodes. */
  flushes = 0
  readonly random = seededRandom(7)
  gantry = EMPTY_GANTRY
  private readonly group: NodeGroup
  private readonly firstNode: Node

  /** `node1` is the master; the others are regular nodes. */
  constructor(nodeNames: readonly string[] = ['node1', 'node2', 'node3'], cluster: Partial<Cluster> = {}) {
    this.config = initialConfig(
      {
        clusterName: 'cluster.test',
        masterIp: '192.0.2.254',
        masterName: `${nodeNames[0]}.test`,
        primaryIp: '192.0.2.1',
        masterCertDigest: 'digest of node1.test',
        cluster: { modify_ssh_setup: false, modify_etc_hosts: false, candidate_pool_size: 1, ...cluster },
      },
      { now_s: 1000, random: this.random },
    )
    this.group = one(this.config.nodegroups)
    this.firstNode = one(this.config.nodes)
    nodeNames.slice(1).forEach((name, index) => this.addNode(`${name}.test`, `192.0.2.${index + 2}`))
  }

  apply(...changes: Change[]): void {
    for (const named of changes) this.change(named)
  }

  private change(named: NamedChange | Change): unknown {
    const context = { now_s: 2000, random: this.random }
    const { documents, result } = applyChange({ config: this.config, gantry: this.gantry }, named, context)
    ;({ config: this.config, gantry: this.gantry } = documents)
    return result
  }

  addNode(name: string, ip: string, fields: Partial<Node> = {}): NodeUuid {
    const uuid = nodeUuid(this.random.uuid())
    const address = { name, uuid, primary_ip: ip, secondary_ip: ip }
    this.apply(change('addNode', { ...this.firstNode, master_candidate: false, ...address, ...fields }))
    return uuid
  }

  addGroup(name: string, fields: Partial<NodeGroup> = {}): string {
    const uuid = groupUuid(this.random.uuid())
    this.apply(change('addNodeGroup', { ...this.group, uuid, name, networks: {}, ...fields }))
    return uuid
  }

  /** A stopped instance: without disks, or with one DRBD disk when it has a secondary node. */
  addInstance(name: string, primary: string, fields: Partial<Instance> = {}, secondary?: string): Instance {
    const instance: Instance = {
      name,
      primary_node: this.node(primary).uuid,
      os: 'noop',
      hypervisor: 'kvm',
      hvparams: {},
      beparams: {},
      osparams: {},
      osparams_private: {},
      admin_state: 'down',
      admin_state_source: 'admin',
      nics: [],
      disks: [],
      disks_active: false,
      uuid: instanceUuid(this.random.uuid()),
      serial_no: 1,
      ctime: 0,
      mtime: 0,
      tags: [],
      ...fields,
    }
    this.apply(change('addInstance', instance))
    if (secondary !== undefined) this.addDrbdDisk(instance, this.node(secondary))
    return instance
  }

  addRbdDisk(instance: string): void {
    this.addDisk(instance, 'rbd', ['rbd', 'image'], [])
  }

  addPlainDisk(instance: string, node: string): void {
    this.addDisk(instance, 'plain', ['xenvg', `${instance}.disk0`], [this.node(node).uuid])
  }

  private addDisk(instance: string, dev_type: DiskTemplate, logical_id: readonly string[], nodes: NodeUuid[]): void {
    const uuid = diskUuid(this.random.uuid())
    const times = { serial_no: 1, ctime: 0, mtime: 0 }
    const disk: Disk = {
      uuid,
      dev_type,
      logical_id,
      nodes,
      children: [],
      iv_name: 'disk/0',
      size: 1024,
      mode: 'rw',
      ...times,
    }
    this.apply(change('addInstanceDisk', instance, disk, 0))
  }

  private addDrbdDisk(instance: Instance, secondary: Node): void {
    const nodes = [instance.primary_node, secondary.uuid]
    const common = { nodes, iv_name: 'disk/0', size: 1024, mode: 'rw', serial_no: 1, ctime: 0, mtime: 0 } as const
    const volume = (suffix: string, size: number) => ({
      ...common,
      uuid: diskUuid(this.random.uuid()),
      dev_type: 'plain' as const,
      logical_id: ['xenvg', `${instance.name}.${suffix}`],
      size,
      iv_name: '',
      children: [],
    })
    const disk = {
      ...common,
      uuid: diskUuid(this.random.uuid()),
      dev_type: 'drbd' as const,
      logical_id: [instance.primary_node, secondary.uuid, 11000, 0, 0, 'secret'],
      children: [volume('data', 1024), volume('meta', 128)],
    }
    this.apply(change('addInstanceDisk', instance.uuid, disk, 0))
  }

  node(name: string): Node {
    return found(Object.values(this.config.nodes), (node) => node.name === name || node.name === `${name}.test`)
  }

  groupNamed(name: string): NodeGroup {
    return found(Object.values(this.config.nodegroups), (group) => group.name === name)
  }

  callsOf(call: CallName): NodeCallRecord[] {
    return this.calls.filter((record) => record.call === call)
  }

  /** Runs one opcode from its first lock to its last, as a job process does. */
  run(id: string, params: Readonly<Record<string, unknown>>): Promise<unknown> {
    const reason = [['gnt:test', '', 1]]
    return runOpcode({ OP_ID: id, priority: 0, comment: null, depends: null, reason, ...params }, this.environment())
  }

  /** Plans a job; the cluster does not change. */
  plan(...ops: readonly WireOpCode[]): Promise<Planned[]> {
    const { nodes, clock, random, paths, processLog: log } = this.environment()
    return planJob(ops, { config: this.config, gantry: this.gantry, nodes, clock, random, paths, log })
  }

  /** The error with which an opcode ends, as it crosses wires; fails the test when it does not fail. */
  async failure(id: string, params: Readonly<Record<string, unknown>>): Promise<unknown> {
    const outcome = await this.run(id, params).then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    )
    if (!('error' in outcome)) throw new Error(`${id} did not fail, it answered ${JSON.stringify(outcome.result)}`)
    if (!(outcome.error instanceof GanetiError)) throw outcome.error
    return outcome.error.toWire()
  }

  /** The variables that the hook scripts of a phase got, and the nodes on which they ran. */
  hooks(path: string, phase: 'pre' | 'post'): { nodes: string[]; env: Record<string, string> } {
    const runs = this.callsOf('hooks_runner').filter(({ args }) => args[0] === path && args[1] === phase)
    const env = runs[0]?.args[2]
    return { nodes: runs.map(({ node }) => node).sort(), env: (env ?? {}) as Record<string, string> }
  }

  private environment(): JobEnvironment {
    return jobEnvironment({
      ...{ wconfd: this.wconfd(), nodes: this.nodeClient(), random: this.random, said: this.log, submitted: this.jobs },
      paths: pathsOf('/nonexistent/node1.test', 'node1.test'),
    })
  }

  private wconfd(): Wconfd {
    return wconfdOf({
      gantryRead: (selector) => Promise.resolve(slice(this.config, selector)),
      gantrySection: async (section) => this.gantry.sections[section] ?? {},
      gantryChange: async (_client, _epoch, changes) => changes.map((named) => this.change(named)),
      gantryAcquire: (_client, _priority, request) => {
        for (const [name, mode] of request) this.locks.push(`${name} ${mode}`)
        return Promise.resolve({ epoch: 1 })
      },
      flushConfig: () => {
        this.flushes++
        return Promise.resolve(null)
      },
      gantryFreeAll: () => Promise.resolve(null),
      dropAllReservations: () => Promise.resolve(null),
    })
  }

  private nodeClient(): NodeClient {
    return nodesThatAnswer(<C extends CallName>(node: NodeTarget, call: C, args: ArgsOf<C>): ResultOf<C> => {
      this.calls.push({ node: node.name, call, args })
      const answers: { [K in C]?: (target: NodeTarget, ...given: ArgsOf<K>) => ResultOf<K> } = this.answers
      const answer = answers[call]
      if (answer === undefined) throw new Error(`no answer to ${call} in this test`)
      return answer(node, ...args)
    })
  }
}

function one<T>(container: Readonly<Record<string, T>>): T {
  return found(Object.values(container), () => true)
}

function found<T>(objects: readonly T[], matches: (object: T) => boolean): T {
  const object = objects.find(matches)
  if (object === undefined) throw new Error('the test names an object that does not exist')
  return object
}
