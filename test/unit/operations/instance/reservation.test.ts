// A reservation takes the room of an instance before there is one.
import { verifyConfig } from '../../../../src/config/verify'
import type { Disk, Instance } from '../../../../src/model/config'
import { isHalfMade, isReserved } from '../../../../src/model/instance'
import type { NodeInfo } from '../../../../src/rpc/node/dicts'
import { type FakeCluster, simulatedCluster } from '../../../support/fake-cluster'

const NAME = 'inst20.gnt.example'
const reserve = {
  instance_name: NAME,
  mode: 'create',
  disk_template: 'sharedfile',
  disks: [
    { size: 8, name: 'd0' },
    { size: 4, mode: 'ro' },
  ],
  nics: [{ ip: 'pool', network: 'net1' }, {}],
  os_type: 'noop',
  hypervisor: 'fake',
  beparams: { memory: 32 },
  osparams: { size: 'small' },
  tags: ['owner:ada'],
  pnode: 'node1.gnt.example',
  forthcoming: true,
}
/** What a client sends whose user says nothing but the name. */
const commit = { instance_name: NAME, mode: 'create', disks: [], nics: [{}], commit: true }

let cluster: FakeCluster
beforeEach(() => {
  cluster = simulatedCluster()
})
afterEach(() => {
  expect(cluster.table.owners.size).toBe(0)
  expect(verifyConfig(cluster.config)).toEqual([])
})

function instance(): Instance {
  const found = cluster.instance('inst20')
  if (found === undefined) throw new Error(`${NAME} is not there`)
  return found
}
const disks = (): Disk[] => instance().disks.flatMap((uuid) => cluster.config.disks[uuid] ?? [])
const changing = () => cluster.asked.filter(({ call }) => /^(blockdev|instance|file_storage)/.test(call))
/** The locks of a job that died are free. */
function died(): void {
  cluster.table.owners.clear()
  cluster.table.locks.clear()
}
const failure = async (op: string, params: Readonly<Record<string, unknown>>) => {
  const [name, [text]] = (await cluster.failure(op, params)) as [string, [string]]
  return `${name}: ${text}`
}

test('a commit that fails leaves the reservation its address, whatever the commit was given', async () => {
  await cluster.run('OP_INSTANCE_CREATE', reserve)
  const { nics } = instance()
  let observed: unknown
  cluster.answers.blockdev_create = () => {
    observed ??= instance().nics
    throw new Error('no space left')
  }
  expect(await failure('OP_INSTANCE_CREATE', { ...commit, nics: [] })).toContain('no space left')
  expect([observed, instance().nics]).toEqual([nics, nics])
  cluster.answers = {}
  await cluster.run('OP_INSTANCE_CREATE', { ...commit, nics: [] })
  expect(instance().nics).toEqual([])
})

describe('a reservation', () => {
  test('is a record, and nothing on any node', async () => {
    await expect(cluster.run('OP_INSTANCE_CREATE', reserve)).resolves.toEqual(['node1.gnt.example'])
    expect(cluster.log.slice(-4)).toEqual([
      'Instance is forthcoming, not creating disks',
      'adding instance inst20.gnt.example to cluster config',
      'adding disks to cluster config',
      'Instance is forthcoming; not creating the actual instance',
    ])
    expect(instance()).toMatchObject({ forthcoming: true, disks_active: false, admin_state: 'down' })
    expect(disks()).toMatchObject([
      { forthcoming: true, size: 8 },
      { forthcoming: true, size: 4 },
    ])
    expect(changing()).toEqual([])
    expect(cluster.diskFiles().filter((uuid) => instance().disks.some((disk) => disk === uuid))).toEqual([])
  })

  test('without disks is one, too', async () => {
    await cluster.run('OP_INSTANCE_CREATE', { ...reserve, disk_template: 'diskless', disks: [] })
    expect(isReserved(instance())).toBe(true)
    await cluster.run('OP_INSTANCE_CREATE', commit)
    expect(instance().forthcoming).toBeUndefined()
    expect(cluster.runningOn('inst20')).toEqual(['node1.gnt.example'])
  })

  test('goes without a word to its nodes', async () => {
    await cluster.run('OP_INSTANCE_CREATE', reserve)
    await cluster.run('OP_INSTANCE_REMOVE', { instance_name: NAME })
    expect(cluster.instance('inst20')).toBeUndefined()
    expect(changing()).toEqual([])
  })

  test('can be shown without asking its node', async () => {
    await cluster.run('OP_INSTANCE_CREATE', reserve)
    const displayed = (await cluster.run('OP_INSTANCE_QUERY_DATA', { instances: [NAME], static: false })) as object
    expect(displayed).toMatchObject({ [NAME]: { config_state: 'down', run_state: null, forthcoming: true } })
    expect(changing()).toEqual([])
  })

  test('takes room: an allocator gives it to nobody else', async () => {
    const memory = { memory_free: 10 * 1024, memory_total: 64 * 1024, memory_dom0: 1024 }
    cluster.answers.node_info = () => [
      'boot',
      [],
      [{ ...memory, cpu_total: 16, cpu_nodes: 1, cpu_sockets: 1, cpu_dom0: 1 }],
    ]
    cluster.change('patchCluster', { default_iallocator_params: { 'no-capacity-checks': null } })
    const { pnode: _, ...anywhere } = { ...reserve, iallocator: 'hail', nics: [], beparams: { memory: 6 * 1024 } }
    const big = { ...anywhere, disk_template: 'diskless', disks: [], ignore_ipolicy: true }
    const usable = Object.values(cluster.config.nodes).filter(({ offline, drained }) => !offline && !drained).length
    for (let made = 0; made < usable; made++)
      await cluster.run('OP_INSTANCE_CREATE', { ...big, instance_name: `big${made}.gnt.example` })
    const reserved = Object.values(cluster.config.instances).filter(isReserved)
    expect(new Set(reserved.map(({ primary_node }) => primary_node)).size).toBe(usable)
    await expect(failure('OP_INSTANCE_CREATE', { ...big, forthcoming: false })).resolves.toContain('no node fits')
  })

  test('keeps no secrets, and says so', async () => {
    cluster.secrets = { osparams_secret: { password: 'hunter2' } }
    await cluster.run('OP_INSTANCE_CREATE', { ...reserve, osparams_secret: {} })
    expect(cluster.log.at(-1)).toContain('Secret OS parameters are kept nowhere')
    expect(JSON.stringify([cluster.config, cluster.log])).not.toContain('hunter2')
  })

  test('is not reserved twice', async () => {
    await cluster.run('OP_INSTANCE_CREATE', reserve)
    await expect(failure('OP_INSTANCE_CREATE', reserve)).resolves.toContain('is already in the cluster')
  })

  test.each([
    [{ commit: true }, 'exclude each other'],
    [{ mode: 'import' }, 'Only new instances can be reserved'],
    [{ disk_template: 'plain', disks: [{ adopt: 'data' }] }, 'Disks that are adopted cannot be reserved'],
  ])('with %j is refused', async (more, text) => {
    await expect(failure('OP_INSTANCE_CREATE', { ...reserve, ...more })).resolves.toContain(text)
  })
})

describe('what needs a real instance refuses a reserved one, and says the way out', () => {
  const ways =
    "Instance 'inst20.gnt.example' is only reserved, and nothing of it exists yet; make it with 'gnt-instance add --commit inst20.gnt.example', or remove it with 'gnt-instance remove inst20.gnt.example'"
  test.each([
    ['OP_INSTANCE_STARTUP', {}],
    ['OP_INSTANCE_SHUTDOWN', {}],
    ['OP_INSTANCE_REBOOT', { reboot_type: 'hard' }],
    ['OP_INSTANCE_REINSTALL', {}],
    ['OP_INSTANCE_CONSOLE', {}],
    ['OP_INSTANCE_ACTIVATE_DISKS', {}],
    ['OP_INSTANCE_DEACTIVATE_DISKS', {}],
    ['OP_INSTANCE_GROW_DISK', { disk: 0, amount: 8, wait_for_sync: true }],
    ['OP_INSTANCE_RECREATE_DISKS', {}],
    ['OP_INSTANCE_SET_PARAMS', { beparams: { vcpus: 2 } }],
    ['OP_INSTANCE_MIGRATE', { target_node: 'node2.gnt.example' }],
    ['OP_INSTANCE_FAILOVER', { cleanup: true, target_node: 'node2.gnt.example' }],
    ['OP_INSTANCE_MOVE', { target_node: 'node2.gnt.example' }],
    ['OP_INSTANCE_CHANGE_GROUP', { iallocator: 'hail' }],
    ['OP_BACKUP_EXPORT', { target_node: 'node2.gnt.example', mode: 'local' }],
    ['OP_BACKUP_PREPARE', { mode: 'remote' }],
  ])('%s', async (op, params) => {
    await cluster.run('OP_INSTANCE_CREATE', reserve)
    await expect(failure(op, { instance_name: NAME, ...params })).resolves.toBe(`OpPrereqError: ${ways}`)
    expect(changing()).toEqual([])
  })
})

describe('a reservation moves by its record alone', () => {
  test('to another name, and the folder of its disks with it', async () => {
    await cluster.run('OP_INSTANCE_CREATE', reserve)
    const params = { instance_name: NAME, new_name: 'inst21.gnt.example', name_check: false, ip_check: false }
    await cluster.run('OP_INSTANCE_RENAME', params)
    const renamed = cluster.instance('inst21')
    expect(renamed?.forthcoming).toBe(true)
    expect(String(cluster.config.disks[renamed?.disks[0] ?? '']?.logical_id[1])).toContain('/inst21.gnt.example/')
    expect(changing()).toEqual([])
  })

  test('to another node, by failover', async () => {
    await cluster.run('OP_INSTANCE_CREATE', reserve)
    await cluster.run('OP_INSTANCE_FAILOVER', { instance_name: NAME, target_node: 'node2.gnt.example' })
    expect(instance().primary_node).toBe(cluster.node('node2').uuid)
    expect(changing()).toEqual([])
  })

  test('with all others, when its node is emptied', async () => {
    await cluster.run('OP_INSTANCE_CREATE', reserve)
    await cluster.run('OP_NODE_MIGRATE', { node_name: 'node1.gnt.example', target_node: 'node2.gnt.example' })
    const job = cluster.submitted.flat().find((op) => op['instance_name'] === NAME)
    expect(job).toMatchObject({ OP_ID: 'OP_INSTANCE_FAILOVER', target_node: 'node2.gnt.example' })
  })
})

describe('a commit', () => {
  test('that says nothing makes what was reserved', async () => {
    await cluster.run('OP_INSTANCE_CREATE', reserve)
    const [before, taken] = [instance(), disks()]
    await expect(cluster.run('OP_INSTANCE_CREATE', commit)).resolves.toEqual(['node1.gnt.example'])
    const made = instance()
    expect(made).toMatchObject({
      ...{ uuid: before.uuid, primary_node: before.primary_node, nics: before.nics, os: 'noop' },
      ...{ beparams: { minmem: 32, maxmem: 32 }, osparams: { size: 'small' }, tags: ['owner:ada'] },
      ...{ disks: before.disks, disks_active: true, admin_state: 'up', ctime: before.ctime },
    })
    expect(made.serial_no).toBeGreaterThan(before.serial_no)
    expect(made.forthcoming).toBeUndefined()
    expect(disks().map(({ logical_id }) => logical_id)).toEqual(taken.map(({ logical_id }) => logical_id))
    expect(disks().map(({ forthcoming }) => forthcoming)).toEqual([undefined, undefined])
    expect(cluster.diskFiles()).toEqual(expect.arrayContaining([...made.disks]))
    expect(cluster.calls('instance_os_add')).toHaveLength(1)
    expect(cluster.runningOn('inst20')).toEqual(['node1.gnt.example'])
  })

  test('takes what it is given in the place of what was reserved', async () => {
    await cluster.run('OP_INSTANCE_CREATE', reserve)
    const [net] = instance().nics
    const nics = [{ ip: 'pool', network: 'net1', name: 'front' }]
    const input = { beparams: { memory: 64, vcpus: 2 }, tags: ['owner:bob'], start: false, os_type: 'noop', nics }
    await cluster.run('OP_INSTANCE_CREATE', { ...commit, ...input, disks: [{ size: 8 }, { size: 4 }] })
    expect(instance()).toMatchObject({
      ...{ beparams: { minmem: 64, maxmem: 64, vcpus: 2 }, tags: ['owner:bob'], admin_state: 'down' },
      nics: [{ mac: net?.mac, ip: net?.ip, name: 'front' }],
    })
    expect(instance().nics).toHaveLength(1)
  })

  test('gives back addresses that it does not need any more', async () => {
    await cluster.run('OP_INSTANCE_CREATE', reserve)
    const free = () => Object.values(cluster.config.networks).map(({ reservations }) => reservations)
    const reserved = free()
    await cluster.run('OP_INSTANCE_CREATE', { ...commit, nics: [] })
    expect(instance().nics).toEqual([])
    expect(free()).not.toEqual(reserved)
  })

  test.each([
    [{ pnode: 'node2' }, 'has the primary node node1.gnt.example in its reservation, not node2.gnt.example'],
    [{ disk_template: 'plain' }, 'has disks of the template sharedfile in its reservation, not plain'],
    [{ disks: [{ size: 8 }] }, 'has 2 disks in its reservation, not one disk'],
    [{ disks: [{ size: 9 }, {}] }, 'has disk 0 with the size 8 in its reservation, not 9'],
    [{ disks: [{}, { mode: 'rw' }] }, 'has disk 1 with the mode ro in its reservation, not rw'],
  ])('with %j, which is otherwise, is refused', async (more, text) => {
    await cluster.run('OP_INSTANCE_CREATE', reserve)
    await expect(failure('OP_INSTANCE_CREATE', { ...commit, ...more })).resolves.toContain(text)
    expect(isReserved(instance())).toBe(true)
  })

  test('to what is not reserved is refused', async () => {
    await expect(failure('OP_INSTANCE_CREATE', { ...commit, instance_name: 'inst1' })).resolves.toContain(
      "Instance 'inst1.gnt.example' is not reserved: it exists already",
    )
    await expect(failure('OP_INSTANCE_CREATE', commit)).resolves.toContain("Instance 'inst20.gnt.example' not known")
  })

  test('works with a short name, and where an allocator is named', async () => {
    await cluster.run('OP_INSTANCE_CREATE', reserve)
    await cluster.run('OP_INSTANCE_CREATE', {
      ...commit,
      instance_name: 'inst20',
      iallocator: 'hail',
      name_check: false,
    })
    expect(instance().forthcoming).toBeUndefined()
  })

  test('that fails leaves the reservation as it was', async () => {
    await cluster.run('OP_INSTANCE_CREATE', reserve)
    const [before, taken, files] = [instance(), disks(), cluster.diskFiles()]
    let requested = 0
    cluster.answers.blockdev_create = () => {
      if (++requested === 2) throw new Error('no space left')
      return undefined
    }
    await expect(failure('OP_INSTANCE_CREATE', { ...commit, beparams: { memory: 64 }, nics: [] })).resolves.toContain(
      'no space left',
    )
    const lasting = ({ serial_no: _serial, mtime: _mtime, ...rest }: Instance | Disk) => rest
    expect(lasting(instance())).toEqual(lasting(before))
    expect(disks().map(lasting)).toEqual(taken.map(lasting))
    expect(cluster.diskFiles()).toEqual(files)
    expect(cluster.log).toContain(' - INFO: Instance inst20.gnt.example stays reserved')
    cluster.answers = {}
    await cluster.run('OP_INSTANCE_CREATE', commit)
    expect(cluster.runningOn('inst20')).toEqual(['node1.gnt.example'])
  })

  test('whose disks are not whole leaves the reservation, too', async () => {
    await cluster.run('OP_INSTANCE_CREATE', reserve)
    cluster.answers.blockdev_getmirrorstatus = () => [
      { dev_path: '', is_degraded: true, ldisk_status: 4 },
      { dev_path: '', is_degraded: true, ldisk_status: 4 },
    ]
    await expect(failure('OP_INSTANCE_CREATE', commit)).resolves.toContain('degraded disks')
    expect(isReserved(instance())).toBe(true)
    expect(cluster.diskFiles().filter((uuid) => instance().disks.some((disk) => disk === uuid))).toEqual([])
  })

  test('waits for nobody: one that finds no memory is refused before anything is made', async () => {
    await cluster.run('OP_INSTANCE_CREATE', reserve)
    const hv = {
      memory_free: 1,
      memory_total: 8192,
      memory_dom0: 0,
      cpu_total: 4,
      cpu_nodes: 1,
      cpu_sockets: 1,
      cpu_dom0: 0,
      hv_version: 'x',
    }
    cluster.answers.node_info = (): NodeInfo =>
      ['boot', [{ type: 'sharedfile', name: '/srv', storage_size: 900, storage_free: 900 }], [hv]] as NodeInfo
    await expect(failure('OP_INSTANCE_CREATE', commit)).resolves.toContain('Not enough memory')
    expect(isReserved(instance())).toBe(true)
  })

  test('can be planned, and changes nothing', async () => {
    await cluster.run('OP_INSTANCE_CREATE', reserve)
    const before = instance()
    const [planned] = await cluster.plan({ OP_ID: 'OP_INSTANCE_CREATE', ...commit })
    expect(planned?.opcode).toMatchObject({ possible: true, changes_complete: true })
    expect(JSON.stringify(planned)).toContain('blockdev_create')
    expect(instance()).toEqual(before)
  })
})

describe('a commit that is killed', () => {
  test('at any node call leaves the reservation, a half-made instance or a real one, and nothing unknown', async () => {
    let killed = true
    const observed = new Set<string>()
    for (let after = 1; killed; after++) {
      cluster = simulatedCluster()
      await cluster.run('OP_INSTANCE_CREATE', reserve)
      const { uuid } = instance()
      killed = await cluster.runUntilKilled('OP_INSTANCE_CREATE', commit, cluster.asked.length + after)
      expect(verifyConfig(cluster.config)).toEqual([])
      const known = Object.keys(cluster.config.disks)
      expect(cluster.diskFiles().filter((disk) => !known.includes(disk))).toEqual([])
      expect(instance()).toMatchObject({ uuid })
      died()
      observed.add(isReserved(instance()) ? 'reserved' : isHalfMade(instance()) ? 'half made' : 'real')
    }
    expect([...observed].sort()).toEqual(['half made', 'real', 'reserved'])
  })

  test('is refused by all that needs an instance, and made anew by another commit', async () => {
    await halfMade()
    const started = await failure('OP_INSTANCE_STARTUP', { instance_name: NAME })
    expect(started).toBe(
      "OpPrereqError: The creation of instance 'inst20.gnt.example' did not end; make it anew with 'gnt-instance add --commit inst20.gnt.example', or remove it with 'gnt-instance remove inst20.gnt.example'",
    )
    const renamed = { instance_name: NAME, new_name: 'inst21.gnt.example', name_check: false, ip_check: false }
    await expect(failure('OP_INSTANCE_RENAME', renamed)).resolves.toContain('did not end')
    const { uuid } = instance()
    await cluster.run('OP_INSTANCE_CREATE', commit)
    expect(instance()).toMatchObject({ uuid, admin_state: 'up' })
    expect(cluster.runningOn('inst20')).toEqual(['node1.gnt.example'])
  })

  test('is not begun anew over what cannot be removed', async () => {
    await halfMade()
    cluster.answers.blockdev_remove = () => {
      throw new Error('busy')
    }
    await expect(failure('OP_INSTANCE_CREATE', commit)).resolves.toContain(
      'not everything that it made could be removed',
    )
    expect(isHalfMade(instance())).toBe(true)
  })

  test('can be removed with all that it made', async () => {
    await halfMade()
    await cluster.run('OP_INSTANCE_REMOVE', { instance_name: NAME })
    expect(cluster.instance('inst20')).toBeUndefined()
  })

  async function halfMade(): Promise<void> {
    for (let after = 1; ; after++) {
      cluster = simulatedCluster()
      await cluster.run('OP_INSTANCE_CREATE', reserve)
      await cluster.runUntilKilled('OP_INSTANCE_CREATE', commit, cluster.asked.length + after)
      died()
      if (isHalfMade(instance()) && cluster.diskFiles().some((uuid) => instance().disks.some((own) => own === uuid)))
        break
      if (instance().forthcoming !== true) throw new Error('it was never half made')
    }
  }
})
