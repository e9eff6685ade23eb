// What could never start is refused when it is asked for, and a guest is not stopped for a start that is certain to fail.
import { type FakeCluster, simulatedCluster } from '../../../../support/fake-cluster'

const NODES = ['node1.gnt.example', 'node2.gnt.example']
const [PRIMARY = '', OTHER = ''] = NODES
const NAME = { instance_name: 'vm1.test' }
const PROBLEM = 'QEMU 7.2.0 of this node does not start with keymap=nope'

let cluster: FakeCluster
beforeEach(() => {
  cluster = simulatedCluster()
  const { config } = cluster
  cluster.config = { ...config, cluster: { ...config.cluster, enabled_hypervisors: ['fake', 'kvm'] } }
})
afterEach(() => {
  expect(cluster.table.owners.size).toBe(0)
})

const text = async (op: string, params: object) => {
  const [, said] = (await cluster.failure(op, { ...params })) as [string, [string] | string]
  return [said].flat()[0]
}
const modify = (params: object) => text('OP_INSTANCE_SET_PARAMS', { ...NAME, ...params })
/** A guest that runs on the first node. */
const running = async () => {
  cluster.addInstance(NAME.instance_name, PRIMARY)
  await cluster.run('OP_INSTANCE_STARTUP', NAME)
}
const NEW = {
  instance_name: 'vm2.test',
  ...{ mode: 'create', disk_template: 'diskless', disks: [], nics: [], os_type: 'noop', hypervisor: 'kvm' },
  ...{ pnode: PRIMARY, name_check: false, ip_check: false, start: false },
}
const create = (params: object) => text('OP_INSTANCE_CREATE', { ...NEW, ...params })

test.each(['scsi-generic', 'scsi-block'])(
  'files are no SCSI devices, so no instance gets %s for them',
  async (type) => {
    const disk_type = { hvparams: { disk_type: type } }
    const refused = new RegExp(`could not start with disk_type=${type}, .* its disks of template 'file' are files`)
    cluster.addInstance(NAME.instance_name, PRIMARY)
    const size = { disks: [{ size: 64 }] }
    expect(await create({ disk_template: 'file', ...size, ...disk_type })).toMatch(refused)
    await cluster.run('OP_INSTANCE_CREATE', {
      ...NEW,
      disk_template: 'file',
      ...size,
      wait_for_sync: false,
      no_install: true,
    })
    expect(await modify({ instance_name: NEW.instance_name, ...disk_type })).toMatch(refused)
  },
)

describe('a read-only disk', () => {
  const size = { size: 64 }
  const withDisk = { ...NEW, disk_template: 'file', disks: [size], wait_for_sync: false, no_install: true }
  const refused = (name: string, index = 0) =>
    `Instance ${name} could not start: its disk ${index} would be read-only, which KVM does not support; "--disk ${index}:mode=rw" makes it writable`

  test('is refused for a guest of KVM, whoever asks for it', async () => {
    const NAME2 = NEW.instance_name
    expect(await text('OP_INSTANCE_CREATE', { ...withDisk, disks: [size, { ...size, mode: 'ro' }] })).toBe(
      refused(NAME2, 1),
    )
    await cluster.run('OP_INSTANCE_CREATE', withDisk)
    const disks = (...changes: unknown[]) => modify({ instance_name: NAME2, disks: changes })
    expect(await disks(['modify', 0, { mode: 'ro' }])).toBe(refused(NAME2))
    expect(await disks(['add', -1, { ...size, mode: 'ro' }])).toBe(refused(NAME2, 1))
    const recreate = { instance_name: NAME2, disks: [[0, { mode: 'ro' }]] }
    expect(await text('OP_INSTANCE_RECREATE_DISKS', recreate)).toBe(refused(NAME2))
    await cluster.run('OP_INSTANCE_SET_PARAMS', { instance_name: NAME2, disks: [['modify', 0, { name: 'root' }]] })
  })

  test('that an instance has leaves its guest running, and its other parameters can be changed', async () => {
    await cluster.run('OP_INSTANCE_CREATE', withDisk)
    await cluster.run('OP_INSTANCE_STARTUP', { instance_name: NEW.instance_name })
    cluster.change('patchDisk', cluster.instance(NEW.instance_name)?.disks[0], { mode: 'ro' })
    const instance = { instance_name: NEW.instance_name }
    for (const reboot_type of ['hard', 'full'])
      expect(await text('OP_INSTANCE_REBOOT', { ...instance, reboot_type })).toBe(refused(NEW.instance_name))
    expect(cluster.runningOn(NEW.instance_name)).toEqual([PRIMARY])
    await cluster.run('OP_INSTANCE_SET_PARAMS', { ...instance, hvparams: { acpi: false } })
    await cluster.run('OP_INSTANCE_SET_PARAMS', { ...instance, disks: [['modify', 0, { mode: 'rw' }]] })
    await cluster.run('OP_INSTANCE_REBOOT', { ...instance, reboot_type: 'hard' })
  })
})

describe('a CPU mask', () => {
  test.each([[{ hvparams: { cpu_mask: '0:1:0' } }], [{ hvparams: { cpu_mask: '0:1' }, beparams: { vcpus: 3 } }]])(
    '%j is for another number of virtual CPUs',
    async (params) => {
      cluster.addInstance(NAME.instance_name, PRIMARY)
      const refused = expect.stringMatching(/^Number of vCPUs \[[13]\] does not match the CPU mask \[0:1(:0)?\]$/)
      expect(await modify(params)).toEqual(refused)
      expect(await create(params)).toEqual(refused)
    },
  )

  test('is also for another number when only that changes', async () => {
    cluster.addInstance(NAME.instance_name, PRIMARY, { hvparams: { cpu_mask: '0:1' }, beparams: { vcpus: 2 } })
    expect(await modify({ beparams: { vcpus: 3 } })).toBe('Number of vCPUs [3] does not match the CPU mask [0:1]')
    await cluster.run('OP_INSTANCE_SET_PARAMS', { ...NAME, beparams: { auto_balance: false } })
    await cluster.run('OP_INSTANCE_SET_PARAMS', { ...NAME, hvparams: { cpu_mask: '1' }, beparams: { vcpus: 3 } })
    expect(cluster.instance(NAME.instance_name)).toMatchObject({ hvparams: { cpu_mask: '1' }, beparams: { vcpus: 3 } })
  })

  test('is refused if its highest CPU is missing on one of the nodes', async () => {
    cluster.addInstance(NAME.instance_name, PRIMARY, {}, OTHER)
    cluster.answers.node_info = (node) => [
      'boot',
      null,
      [
        {
          ...{ memory_free: 4096, memory_total: 8192, memory_dom0: 0 },
          ...{ cpu_total: node.name === OTHER ? 2 : 8, cpu_nodes: 1, cpu_sockets: 1, cpu_dom0: 1 },
        },
      ],
    ]
    const missing = `Node ${OTHER} has 2 physical CPUs, but 8 are required`
    expect(await modify({ hvparams: { cpu_mask: '0-7' } })).toBe(missing)
    expect(await create({ pnode: OTHER, hvparams: { cpu_mask: '0-7' } })).toBe(missing)
    await cluster.run('OP_INSTANCE_SET_PARAMS', { ...NAME, hvparams: { cpu_mask: '0-1' }, ignore_ipolicy: true })
  })

  test('that leaves no CPU is refused by the cluster, which asks no node how many it has', async () => {
    const change = (cpu_mask: string) => ({ hvparams: { kvm: { cpu_mask } } })
    expect(await text('OP_CLUSTER_SET_PARAMS', change('1,^1'))).toBe('Invalid CPU mask: 1,^1 leaves no CPU')
    await cluster.run('OP_CLUSTER_SET_PARAMS', change('63'))
    expect(cluster.config.cluster.hvparams['kvm']).toMatchObject({ cpu_mask: '63' })
  })
})

describe('a start that is certain to fail', () => {
  const refuses = (name: string) =>
    (cluster.answers.gantry_start_problem = (node) => (node.name === name ? PROBLEM : null))

  test('is refused when its parameters are given', async () => {
    cluster.addInstance(NAME.instance_name, PRIMARY)
    refuses(PRIMARY)
    const refused = `Instance ${NAME.instance_name} could not start on node ${PRIMARY}: ${PROBLEM}`
    expect(await modify({ hvparams: { cpu_cores: 2 } })).toBe(refused)
    expect(await modify({ beparams: { vcpus: 2 } })).toBe(refused)
    expect(cluster.asked.at(-1)?.args.slice(2)).toEqual([2])
    expect(await create({})).toBe(refused.replace('vm1', 'vm2'))
    expect(cluster.instance('vm2.test')).toBeUndefined()
  })

  test.each([
    ['OP_INSTANCE_REBOOT', { reboot_type: 'hard' }, PRIMARY],
    ['OP_INSTANCE_REBOOT', { reboot_type: 'full' }, PRIMARY],
    ['OP_INSTANCE_FAILOVER', { target_node: OTHER }, OTHER],
  ])('leaves the guest running: %s %j', async (op, params, where) => {
    await running()
    refuses(where)
    expect(await text(op, { ...NAME, ...params })).toBe(
      `Instance ${NAME.instance_name} could not start on node ${where}: ${PROBLEM}`,
    )
    expect(cluster.asked.map(({ call }) => call)).not.toContain('instance_shutdown')
    expect(cluster.asked.map(({ call }) => call)).not.toContain('instance_reboot')
  })

  test('does not keep a guest from a reset, nor from a node that must be left', async () => {
    await running()
    refuses(PRIMARY)
    await cluster.run('OP_INSTANCE_REBOOT', { ...NAME, reboot_type: 'soft' })
    refuses(OTHER)
    const forced = { ...NAME, target_node: OTHER, ignore_consistency: true }
    await cluster.run('OP_INSTANCE_FAILOVER', forced)
    expect(cluster.asked.map(({ call }) => call)).toContain('instance_shutdown')
  })

  test('is not known on nodes without this question, and these are asked to start', async () => {
    await running()
    cluster.answers.gantry_start_problem = () => {
      throw new Error('Unknown method gantry_start_problem')
    }
    await cluster.run('OP_INSTANCE_REBOOT', { ...NAME, reboot_type: 'hard' })
    expect(cluster.calls('instance_reboot').length).toBe(1)
  })
})
