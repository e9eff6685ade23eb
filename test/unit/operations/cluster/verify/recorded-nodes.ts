// The recorded cluster, whose nodes are all well: tests break one thing each.
import { instanceDisks } from '../../../../../src/config/lookup'
import type { Clock } from '../../../../../src/lib/clock'
import { systemClock } from '../../../../../src/lib/clock'
import type { ConfigData, Instance } from '../../../../../src/model/config'
import { PROTOCOL_VERSION, RELEASE_VERSION } from '../../../../../src/model/constants/versions'
import type { NodeTarget } from '../../../../../src/rpc/node/client'
import { FakeCluster } from '../../../../support/fake-cluster'
import { goldenConfig } from '../../../../support/golden-query'

export const NOW_S = 1_795_232_587
const clock: Clock = { ...systemClock, now_ms: () => NOW_S * 1000 }
export const OS = ['noop', '/srv/ganeti/os/noop', true, '', ['default'], [['dhcp', 'use DHCP']], [20], true]

export class RecordedCluster extends FakeCluster {
  /** Changes of single answers, by node name and check. */
  readonly broken: Record<string, Record<string, unknown>> = {}
  readonly extraFiles: [path: string, size_bytes: number][] = []
  readonly lostFiles = new Set<string>()

  constructor(config: ConfigData = goldenConfig()) {
    super(config)
    this.clock = clock
    this.replicas = ['node2', 'node3', 'node4'].map((name) => {
      const full = `${name}.gnt.example`
      return { node: this.node(full).uuid, name: full, state: 'in sync', reason: null }
    })
    this.answers.node_verify = (node, [checks]) => this.verify(node, checks)
    this.answers.blockdev_getmirrorstatus_multi = (_node, [disks]) =>
      disks.map(() => [true, { dev_path: '/dev/x', is_degraded: false, ldisk_status: 1 }])
    this.answers.gantry_file_storage_list = (node, [directories]) =>
      directories.map((directory) => this.filesOn(node).filter(([path]) => path.startsWith(`${directory}/`)))
  }

  override instance(name: string): Instance {
    const found = Object.values(this.config.instances).find((one) => one.name === `${name}.gnt.example`)
    if (found === undefined) throw new Error(`no instance ${name}`)
    return found
  }

  /** Runs the check of a group; answers with the result and the lines that name a problem. */
  async verifyGroup(flags: Readonly<Record<string, unknown>> = {}): Promise<[result: unknown, problems: string[]]> {
    this.log.length = 0
    const result = await this.run('OP_CLUSTER_VERIFY_GROUP', { group_name: 'default', ...flags })
    return [result, this.log.filter((line) => /^ {2}- (ERROR|WARNING)/.test(line)).map((line) => line.slice(4))]
  }

  private verify(node: NodeTarget, checks: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const own = Object.values(this.config.instances).filter(
      (instance) => instance.primary_node === node.uuid && instance.admin_state === 'up',
    )
    const files = Array.isArray(checks['filelist']) ? checks['filelist'].map(String) : []
    const all: Record<string, unknown> = {
      version: [PROTOCOL_VERSION, RELEASE_VERSION],
      filelist: Object.fromEntries(files.map((file) => [file, '0123456789012345678901234567890123456789'])),
      hypervisor: { fake: null, kvm: null },
      hvparms: [],
      nodelist: {},
      'node-net-test': {},
      instancelist: own.map((instance) => instance.name),
      hvinfo: { memory_total: 4096, memory_free: 2048, memory_dom0: 512 },
      nodesetup: [],
      time: [NOW_S, 0],
      'master-ip': true,
      oslist: [OS],
      'user-scripts': [],
      'client-cert': [null, this.config.cluster.candidate_certs[node.uuid] ?? `own of ${node.name}`],
      bridges: [],
      ...(node.uuid === this.config.cluster.master_node && { 'allowed-file-storage-paths': [] }),
    }
    const answer = { ...all, ...this.broken[node.name] }
    return Object.fromEntries(
      Object.entries(answer).filter(([name]) => name in checks || name in (this.broken[node.name] ?? {})),
    )
  }

  private filesOn(node: NodeTarget): [path: string, size_bytes: number][] {
    const files = Object.values(this.config.instances).flatMap((instance) =>
      instanceDisks(this.config, instance)
        .filter((disk) => disk.dev_type === 'sharedfile' || instance.primary_node === node.uuid)
        .map((disk): [string, number] => [String(disk.logical_id[1]), disk.size << 20]),
    )
    return [...files, ...this.extraFiles].filter(([path]) => !this.lostFiles.has(path))
  }
}
