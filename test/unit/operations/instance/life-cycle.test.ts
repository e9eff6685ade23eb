// Instances are started, stopped, rebooted, renamed, reinstalled and removed.
import { MARK } from '../../../../src/model/marks'
import { type FakeCluster, simulatedCluster } from '../../../support/fake-cluster'

// inst1: diskless, up on node2; inst2: file, up on node2; inst4: diskless, down on node3; inst6: sharedfile, up on node3.
let cluster: FakeCluster
beforeEach(() => {
  cluster = simulatedCluster()
})
afterEach(() => {
  expect(cluster.table.owners.size).toBe(0)
  expect(cluster.inconsistencies()).toEqual([])
})

const of = (name: string, more: object = {}) => ({ instance_name: name, ...more })
const fail = (text: string) => () => {
  throw new Error(text)
}

describe('startup', () => {
  test('remarks of a node on a start are in the log of the job', async () => {
    cluster.answers.instance_start = () => ['NIC 0 has another network']
    await cluster.run('OP_INSTANCE_STARTUP', { instance_name: 'inst4' })
    expect(cluster.log).toContain(' - INFO: NIC 0 has another network')
  })

  test('a stopped instance is marked up, its disks are activated, and it runs', async () => {
    cluster.change('setInstanceStatus', cluster.instance('inst6')?.uuid, 'down', false, 'admin')
    cluster.world.node('node3.gnt.example').instances.delete('inst6.gnt.example')
    await expect(cluster.run('OP_INSTANCE_STARTUP', of('inst6'))).resolves.toBeNull()
    expect(cluster.runningOn('inst6')).toEqual(['node3.gnt.example'])
    expect(cluster.instance('inst6')).toMatchObject({ admin_state: 'up', disks_active: true })
    expect(cluster.calls('blockdev_assemble').map(({ args }) => args[2])).toEqual([false, true])
    expect(cluster.calls('instance_start')[0]?.args.slice(1)).toEqual([false, [['gnt:test', 'why', 1]]])
  })

  test('one that runs already is started again without a memory check, as the node allows', async () => {
    await cluster.run('OP_INSTANCE_STARTUP', of('inst1'))
    expect(cluster.calls('node_info')).toEqual([])
    expect(cluster.runningOn('inst1')).toEqual(['node2.gnt.example'])
  })

  describe('the answer to the start is lost', () => {
    const start = async (lost: 'before' | 'after', isDead: boolean) => {
      cluster.change('setInstanceStatus', cluster.instance('inst6')?.uuid, 'down', false, 'admin')
      cluster.world.node('node3.gnt.example').instances.delete('inst6.gnt.example')
      let isLost = false
      cluster.losing = (node, call) => {
        if (call === 'instance_start') isLost = true
        if (call === 'instance_start') return lost
        return isLost && isDead && node === 'node3.gnt.example' ? 'before' : undefined
      }
      await expect(cluster.run('OP_INSTANCE_STARTUP', of('inst6'))).rejects.toThrow(
        "Could not start instance 'inst6.gnt.example': hung up",
      )
    }

    test('disks of a guest that runs stay active', async () => {
      await start('after', false)
      expect(cluster.instance('inst6')?.disks_active).toBe(true)
      expect(cluster.calls('blockdev_shutdown')).toEqual([])
      expect(cluster.log).toContain(
        ' - WARNING: Instance inst6.gnt.example runs on node node3.gnt.example, so its disks stay active',
      )
    })

    test('those of one whose node does not tell stay active, too', async () => {
      await start('before', true)
      expect(cluster.instance('inst6')?.disks_active).toBe(true)
      expect(cluster.calls('blockdev_shutdown')).toEqual([])
      expect(cluster.log).toContain(
        ' - WARNING: Instance inst6.gnt.example may run on node node3.gnt.example, which does not tell (hung up), so its disks stay active',
      )
    })

    test('those of one that does not run are deactivated', async () => {
      await start('before', false)
      expect(cluster.instance('inst6')?.disks_active).toBe(false)
      expect(cluster.calls('blockdev_shutdown')).toHaveLength(1)
    })
  })

  test('a dry run checks and stops', async () => {
    await cluster.run('OP_INSTANCE_STARTUP', of('inst4', { dry_run: true }))
    expect(cluster.log).toEqual([' - INFO: dry-run mode requested, not actually executing the operation'])
    expect(cluster.runningOn('inst4')).toEqual([])
    expect(cluster.instance('inst4')?.admin_state).toBe('down')
  })

  test('an instance that is marked offline, one too big, and one on an offline node are refused', async () => {
    cluster.change('setInstanceStatus', cluster.instance('inst4')?.uuid, 'offline', null, 'admin')
    await expect(cluster.failure('OP_INSTANCE_STARTUP', of('inst4'))).resolves.toEqual([
      'OpPrereqError',
      [
        "Instance 'inst4.gnt.example' is marked to be offline, can't use instance from outside down, up states",
        'wrong_state',
      ],
    ])
    cluster.change('setInstanceStatus', cluster.instance('inst4')?.uuid, 'down', null, 'admin')
    const big = { beparams: { memory: '1t' } }
    await expect(cluster.failure('OP_INSTANCE_STARTUP', of('inst4', big))).resolves.toEqual([
      'OpPrereqError',
      [
        expect.stringMatching(
          /^Not enough memory on node node3.gnt.example for starting instance inst4.gnt.example: needed 1048576 MiB, available \d+ MiB$/,
        ),
        'insufficient_resources',
      ],
    ])
    cluster.change('patchNode', cluster.node('node3').uuid, { offline: true, master_candidate: false })
    await expect(cluster.failure('OP_INSTANCE_STARTUP', of('inst4'))).resolves.toEqual([
      'OpPrereqError',
      ["Can't use offline node: node3.gnt.example", 'wrong_state'],
    ])
    await cluster.run('OP_INSTANCE_STARTUP', of('inst4', { ignore_offline_nodes: true }))
    expect(cluster.log).toContain(' - INFO: Primary node offline, marked instance as started')
    expect(cluster.instance('inst4')?.admin_state).toBe('up')
  })

  test('when it does not start, its disks are deactivated again', async () => {
    cluster.answers.instance_info = () => ({})
    cluster.answers.instance_start = fail('no KVM')
    await expect(cluster.failure('OP_INSTANCE_STARTUP', of('inst6'))).resolves.toEqual([
      'OpExecError',
      ["Could not start instance 'inst6.gnt.example': no KVM"],
    ])
    expect(cluster.calls('blockdev_shutdown')).toHaveLength(1)
    expect(cluster.instance('inst6')?.disks_active).toBe(false)
  })

  test.each(['blockdev_assemble', 'instance_start'] as const)(
    'a guest that runs already keeps its disks when %s fails',
    async (call) => {
      cluster.answers[call] = fail('no answer')
      await cluster.failure('OP_INSTANCE_STARTUP', of('inst6'))
      expect(cluster.calls('blockdev_shutdown')).toEqual([])
      expect(cluster.instance('inst6')?.disks_active).toBe(true)
    },
  )

  test('disks that cannot be activated stop it', async () => {
    cluster.answers.blockdev_assemble = fail('gone')
    await expect(cluster.failure('OP_INSTANCE_STARTUP', of('inst6'))).resolves.toEqual([
      'OpExecError',
      ['Disk consistency error'],
    ])
    expect(cluster.log).toContain(
      ' - WARNING: Could not prepare block device disk/0 on node node3.gnt.example (is_primary=True, pass=2): gone',
    )
    expect(cluster.calls('instance_start')).toEqual([])
  })

  test('hooks see the instance before and after', async () => {
    await cluster.run('OP_INSTANCE_STARTUP', of('inst4', { force: true }))
    const post = cluster.calls('hooks_runner').find(({ args }) => args[0] === 'instance-start' && args[1] === 'post')
    expect(post?.args[2]).toMatchObject({
      GANETI_OP_CODE: 'OP_INSTANCE_STARTUP',
      GANETI_OBJECT_TYPE: 'INSTANCE',
      GANETI_INSTANCE_NAME: 'inst4.gnt.example',
      GANETI_INSTANCE_STATUS: 'down',
      GANETI_POST_INSTANCE_STATUS: 'up',
      GANETI_FORCE: 'True',
      GANETI_INSTANCE_SECONDARIES: '',
      GANETI_INSTANCE_BE_auto_balance: 'True',
      GANETI_MASTER: 'node1.gnt.example',
      GANETI_DATA_DIR: '/var/lib/ganeti',
    })
    const hooks = cluster.calls('hooks_runner').map(({ node, args }) => [node, args[0], args[1]])
    expect(hooks.at(-1)).toEqual(['node1.gnt.example', 'config-update', 'post'])
  })
})

describe('shutdown', () => {
  test('the instance is stopped, marked down, and its disks are deactivated', async () => {
    await cluster.run('OP_INSTANCE_SHUTDOWN', of('inst6', { timeout: 5 }))
    expect(cluster.runningOn('inst6')).toEqual([])
    expect(cluster.instance('inst6')).toMatchObject({ admin_state: 'down', disks_active: false })
    expect(cluster.calls('instance_shutdown')[0]?.args[1]).toBe(5)
  })

  test('nodes get the reason, and not who submitted the job', async () => {
    const marks = [...Object.values(MARK), 'gnt:user'].map((source) => [source, '{}', 1])
    await cluster.run('OP_INSTANCE_SHUTDOWN', of('inst1', { reason: marks }))
    expect(cluster.calls('instance_shutdown')[0]?.args[2]).toEqual([['gnt:user', '{}', 1]])
  })

  test('no_remember leaves it marked up; a user who shuts down is remembered', async () => {
    await cluster.run('OP_INSTANCE_SHUTDOWN', of('inst1', { no_remember: true }))
    expect(cluster.instance('inst1')?.admin_state).toBe('up')
    await cluster.run('OP_INSTANCE_SHUTDOWN', of('inst1', { admin_state_source: 'user' }))
    expect(cluster.instance('inst1')).toMatchObject({ admin_state: 'down', admin_state_source: 'user' })
  })

  test('a guest that was started again after its user had shut it down is left alone', async () => {
    await cluster.run('OP_INSTANCE_SHUTDOWN', of('inst6', { admin_state_source: 'user' }))
    expect(cluster.instance('inst6')).toMatchObject({ admin_state: 'up', disks_active: true })
    expect(cluster.calls('instance_shutdown')).toEqual([])
    expect(cluster.log.join()).toContain('started after its user had shut it down')
    cluster.answers.instance_info = () => ({ memory: 0, vcpus: 0, state: 1, time: 0 })
    await cluster.run('OP_INSTANCE_SHUTDOWN', of('inst6', { admin_state_source: 'user' }))
    expect(cluster.instance('inst6')).toMatchObject({ admin_state: 'down', admin_state_source: 'user' })
    expect(cluster.calls('instance_shutdown')).toHaveLength(1)
  })

  test('disks of a guest that does not stop stay active', async () => {
    cluster.answers.instance_shutdown = fail('it hangs')
    await cluster.run('OP_INSTANCE_SHUTDOWN', of('inst6'))
    expect(cluster.instance('inst6')).toMatchObject({ admin_state: 'down', disks_active: true })
    expect(cluster.calls('blockdev_shutdown')).toEqual([])
    expect(cluster.log.join()).toContain('runs on node node3.gnt.example, so its disks stay active')
  })

  test('a guest that does not stop is a warning', async () => {
    cluster.answers.instance_shutdown = fail('stuck')
    await cluster.run('OP_INSTANCE_SHUTDOWN', of('inst1'))
    expect(cluster.log).toEqual([' - WARNING: Could not shutdown instance: stuck'])
  })
})

describe('reboot', () => {
  test.each(['soft', 'hard'])('%s is the node’s work', async (kind) => {
    await cluster.run('OP_INSTANCE_REBOOT', of('inst1', { reboot_type: kind }))
    expect(cluster.calls('instance_reboot')[0]?.args.slice(1, 3)).toEqual([kind, 120])
    expect(cluster.calls('instance_shutdown')).toEqual([])
  })

  test('full stops, deactivates, activates and starts', async () => {
    await cluster.run('OP_INSTANCE_REBOOT', of('inst6', { reboot_type: 'full' }))
    const order = cluster.asked.map(({ call }) => call).filter((call) => /^(instance_s|blockdev)/.test(call))
    expect(order).toEqual([
      'instance_shutdown',
      'blockdev_shutdown',
      'blockdev_assemble',
      'blockdev_assemble',
      'instance_start',
    ])
  })

  test('a stopped one is started', async () => {
    await cluster.run('OP_INSTANCE_REBOOT', of('inst4', { reboot_type: 'soft' }))
    expect(cluster.log).toContain(' - INFO: Instance inst4.gnt.example was already stopped, starting now')
    expect(cluster.instance('inst4')?.admin_state).toBe('up')
  })
})

describe('remove', () => {
  test('nothing of the instance is left', async () => {
    const disks = cluster.instance('inst6')?.disks ?? []
    await cluster.run('OP_INSTANCE_REMOVE', of('inst6'))
    expect(cluster.instance('inst6')).toBeUndefined()
    expect(cluster.diskFiles().filter((uuid) => disks.includes(uuid as never))).toEqual([])
    expect(cluster.calls('file_storage_dir_remove').map(({ args }) => args)).toEqual([
      ['/srv/ganeti/shared-file-storage/inst6.gnt.example'],
    ])
  })

  test('a guest that a migration has left at its target, as its job was killed, is stopped', async () => {
    const target = cluster.world.node('node1.gnt.example')
    const guest = cluster.world.node('node3.gnt.example').instances.get('inst6.gnt.example')
    if (guest !== undefined) target.instances.set('inst6.gnt.example', guest)
    await cluster.run('OP_INSTANCE_REMOVE', of('inst6'))
    expect(cluster.runningOn('inst6')).toEqual([])
    expect(cluster.log).toContain('* stopping what an interrupted migration has left on node node1.gnt.example')
  })

  test('a guest that does not stop, or a disk that stays, keeps it; ignore_failures does not', async () => {
    cluster.answers.instance_shutdown = fail('stuck')
    await expect(cluster.failure('OP_INSTANCE_REMOVE', of('inst6'))).resolves.toEqual([
      'OpExecError',
      ["Could not shutdown instance 'inst6.gnt.example' on node 'node3.gnt.example': stuck"],
    ])
    cluster.answers.instance_shutdown = undefined
    cluster.answers.blockdev_remove = fail('busy')
    await expect(cluster.failure('OP_INSTANCE_REMOVE', of('inst6'))).resolves.toEqual([
      'OpExecError',
      ["Can't remove instance's disks"],
    ])
    expect(cluster.instance('inst6')).toBeDefined()
    await cluster.run('OP_INSTANCE_REMOVE', of('inst6', { ignore_failures: true }))
    expect(cluster.log).toContain("Warning: can't remove instance's disks")
    expect(cluster.instance('inst6')).toBeUndefined()
  })

  test('a job killed at any node call loses no disk', async () => {
    let killed = true
    for (let after = 1; killed; after++) {
      const fresh = simulatedCluster()
      killed = await fresh.runUntilKilled('OP_INSTANCE_REMOVE', of('inst6'), after)
      const known = Object.keys(fresh.config.disks)
      expect(fresh.diskFiles().filter((uuid) => !known.includes(uuid))).toEqual([])
      expect(fresh.inconsistencies()).toEqual([])
    }
  })
})

describe('names', () => {
  test('short names and uuids are understood; unknown and replaced ones are refused', async () => {
    await cluster.run('OP_INSTANCE_SHUTDOWN', of('inst1'))
    await expect(cluster.failure('OP_INSTANCE_SHUTDOWN', of('nosuch'))).resolves.toEqual([
      'OpPrereqError',
      ["Instance 'nosuch' not known", 'unknown_entity'],
    ])
    const uuid = '00000000-0000-4000-8000-000000000000'
    await expect(cluster.failure('OP_INSTANCE_SHUTDOWN', of('inst1', { instance_uuid: uuid }))).resolves.toEqual([
      'OpPrereqError',
      [expect.stringContaining('it was replaced meanwhile'), 'resource_not_unique'],
    ])
  })
})

describe('disks without the instance', () => {
  test('activating says where they are', async () => {
    const [disk] = cluster.instance('inst6')?.disks ?? []
    const path = disk && cluster.config.disks[disk]?.logical_id[1]
    await expect(cluster.run('OP_INSTANCE_ACTIVATE_DISKS', of('inst6'))).resolves.toEqual([
      ['node3.gnt.example', 'disk/0', path],
    ])
  })

  test('deactivating is refused while the instance runs, unless forced', async () => {
    await expect(cluster.failure('OP_INSTANCE_DEACTIVATE_DISKS', of('inst6'))).resolves.toEqual([
      'OpPrereqError',
      ["Instance 'inst6.gnt.example' is marked to be up, cannot shutdown disks", 'wrong_state'],
    ])
    await cluster.run('OP_INSTANCE_DEACTIVATE_DISKS', of('inst6', { force: true }))
    expect(cluster.calls('blockdev_shutdown')).toHaveLength(1)
  })
})

describe('console', () => {
  test('of a running instance, from its node', async () => {
    await expect(cluster.run('OP_INSTANCE_CONSOLE', of('inst1'))).resolves.toMatchObject({
      instance: 'inst1.gnt.example',
      kind: 'msg',
    })
  })
  test('a node leads to no other machine and no other instance with its console', async () => {
    const reported = {
      instance: 'inst4',
      kind: 'ssh',
      host: 'node1.gnt.example',
      user: 'root',
      command: ['x'],
    } as const
    cluster.answers.instance_console_info = () => ({ 'inst1.gnt.example': reported })
    const mine = { ...reported, instance: 'inst1.gnt.example', host: 'node2.gnt.example' }
    await expect(cluster.run('OP_INSTANCE_CONSOLE', of('inst1'))).resolves.toEqual(mine)
  })

  test('of a stopped one there is none', async () => {
    await expect(cluster.failure('OP_INSTANCE_CONSOLE', of('inst4'))).resolves.toEqual([
      'OpExecError',
      ['Instance inst4.gnt.example is not running (state ADMIN_down)'],
    ])
  })
})

test('instance data has everything that gnt-instance info shows', async () => {
  const answer = (await cluster.run('OP_INSTANCE_QUERY_DATA', { instances: ['inst2'], static: false })) as Record<
    string,
    Record<string, unknown>
  >
  const info = answer['inst2.gnt.example']
  expect(cluster.log).toEqual([' - WARNING: Non-static data requested, locks need to be acquired'])
  expect(Object.keys(info ?? {})).toEqual(
    (
      'name config_state run_state pnode pnode_group_uuid pnode_group_name snodes snodes_group_uuids snodes_group_names os nics ' +
      'disk_template disks hypervisor network_port hv_instance hv_actual be_instance be_actual os_instance os_actual serial_no ' +
      'mtime ctime uuid'
    ).split(' '),
  )
  expect(info).toMatchObject({
    config_state: 'up',
    run_state: 'up',
    pnode: 'node2.gnt.example',
    hv_actual: {},
    be_actual: { minmem: 64, maxmem: 128, vcpus: 2, auto_balance: true },
    disks: [{ iv_name: 'disk/0', pstatus: [expect.any(String), null, null, null, null, false, 1], sstatus: null }, {}],
    nics: [[null, expect.any(String), '10.99.0.2', 'aa:00:00:60:0d:14', 'bridged', 'xen-br0', '', expect.any(String), { name: 'net1' }]], // prettier-ignore
  })
  const fixed = { instances: ['inst2'], static: true }
  expect(await cluster.run('OP_INSTANCE_QUERY_DATA', fixed)).toMatchObject({
    'inst2.gnt.example': { run_state: null, disks: [{ pstatus: null }, { pstatus: null }] },
  })
})
