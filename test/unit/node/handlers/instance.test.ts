// The life of an instance on the fake hypervisor: first as a real Ganeti node answered it, then what no recording shows.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { dispatch } from '../../../../src/node/dispatch'
import { HypervisorFailure } from '../../../../src/node/hypervisor/hypervisor'
import type { Hypervisor } from '../../../../src/node/hypervisor/hypervisor'
import { instanceHandlers as calls } from '../../../../src/node/handlers/instance'
import { instanceHotplugHandlers as hotplug } from '../../../../src/node/handlers/instance-hotplug'
import { instanceMigrationHandlers as migration } from '../../../../src/node/handlers/instance-migration'
import { isCallName } from '../../../../src/rpc/node/calls'
import type { TestNode } from '../../../support/node-context'
import { testNode } from '../../../support/node-context'
import { diskDict, instanceDict } from '../../../support/hypervisor'

interface Recording {
  call: string
  body: string
  answer: string
}

const golden = path.resolve(__dirname, '../../../golden/node/instance-calls.json')
const recordings = JSON.parse(fs.readFileSync(golden, 'utf8')) as Recording[]

describe('what a real Ganeti node answered', () => {
  const node = testNode('node1.gnt.example')
  beforeAll(() => {
    for (const disk of [
      '68a9ca5f-a79f-4095-84c5-3430deff9864.sharedfile.disk0',
      'b935815a-653f-4d84-8322-7c8318d5bcbd.sharedfile.disk1',
    ])
      node.put(`/srv/ganeti/shared-file-storage/inst30.gnt.example/${disk}`, '')
  })
  afterAll(() => node.remove())

  test.each(recordings.map((recording) => [recording.call, recording] as const))(
    '%s',
    async (call, { body, answer }) => {
      if (!isCallName(call)) throw new Error(`unknown call ${call}`)
      expect(JSON.parse(await dispatch(node.context, call, body))).toEqual(JSON.parse(answer))
    },
  )

  test('the reason of the last change is kept for monitoring', () => {
    const trail: unknown = JSON.parse(fs.readFileSync(`${node.paths.instanceReasonDir}/inst30.gnt.example`, 'utf8'))
    expect(trail).toEqual([
      ['gnt:client:gnt-instance', 'stop', 1795229829947796992],
      ['gnt:opcode:instance_shutdown', 'job=208;index=0', 1795229830149072000],
      ['gnt:daemon:noded:shutdown', '', expect.any(Number)],
    ])
  })
})

describe('what no recording shows', () => {
  let node: TestNode
  const instance = instanceDict({ hypervisor: 'fake', hvparams: { migration_mode: 'live' } })
  const start = (dict = instance) => calls.instance_start(node.context, dict, false, [])
  beforeEach(() => (node = testNode()))
  afterEach(() => node.remove())

  test('a node that takes over an instance notes why', async () => {
    await migration.gantry_reason(node.context, 'inst1.example.com', [['cli:migrate', 'to balance', 1]], 'migrate')
    const trail: unknown = JSON.parse(fs.readFileSync(`${node.paths.instanceReasonDir}/inst1.example.com`, 'utf8'))
    expect(trail).toEqual([
      ['cli:migrate', 'to balance', 1],
      ['gnt:daemon:noded:migrate', '', expect.any(Number)],
    ])
  })

  test('an instance whose disk is missing is not started, and no link stays', async () => {
    const missing = { ...instance, disks_info: [diskDict('/srv/ganeti/file-storage/inst1.example.com/none')] }
    await expect(start(missing)).rejects.toThrow(/^Block device error: /)
    expect(await calls.instance_list(node.context, ['fake'])).toEqual([])
  })

  test('why an instance could not start is an answer; a hypervisor that does not know it has none', async () => {
    const ask = (hypervisor: string) =>
      calls.gantry_start_problem(node.context, hypervisor, { kvm_path: '/no/qemu', boot_order: 'disk' }, 1)
    await expect(ask('fake')).resolves.toBeNull()
    await expect(ask('kvm')).resolves.toMatch(/^Parameter 'kvm_path' fails validation: /)
    await expect(ask('unknown')).resolves.toContain('unknown')
  })

  test('where the console will be is told before the instance runs', async () => {
    const request = { instance, node: {}, group: {}, hvParams: {}, beParams: {} }
    await expect(calls.instance_console_info(node.context, { [instance.name]: request })).resolves.toMatchObject({
      [instance.name]: { instance: instance.name, kind: 'msg' },
    })
  })

  test('an unknown hypervisor and an unknown reboot type are refused by name', async () => {
    await expect(calls.instance_list(node.context, ['xen-pvm'])).rejects.toThrow("Unknown hypervisor 'xen-pvm'")
    await start()
    await expect(calls.instance_reboot(node.context, instance, 'gentle', 1, [])).rejects.toThrow(
      "Invalid reboot_type received: 'gentle'",
    )
  })

  test('memory is changed of a running instance, and of another nothing happens', async () => {
    expect(await calls.instance_balloon_memory(node.context, instance, 8)).toBeNull()
    await start()
    await calls.instance_balloon_memory(node.context, instance, 8)
    expect(await calls.instance_info(node.context, instance.name, 'fake')).toMatchObject({ memory: 8 })
  })

  test('an instance that is not there cannot migrate', async () => {
    await expect(calls.instance_migratable(node.context, instance)).rejects.toThrow('Instance vm1.test is not running')
    await expect(migration.instance_migrate(node.context, 'c', instance, '127.0.0.1', true)).rejects.toThrow(
      'Failed to migrate instance: Instance not running, cannot migrate',
    )
    await expect(migration.accept_instance(node.context, instance, 7, '127.0.0.1')).rejects.toThrow(/must be a text/)
  })

  test('hotplug is refused in words where there is none, and for things that are not devices', async () => {
    await expect(hotplug.hotplug_supported(node.context, instance)).rejects.toThrow(/^Hotplug is not supported: /)
    const nic = { uuid: 'u', mac: 'aa:00:00:00:00:01', nicparams: {} }
    const plug = (action: string, target: string) =>
      hotplug.hotplug_device(node.context, instance, action, target, nic, null, 0)
    await expect(plug('hotadd', 'nic')).rejects.toThrow(/^Hotplug is not supported: /)
    await expect(plug('hotadd', 'disk')).rejects.toThrow('Not a device that can be plugged: disk')
    await expect(plug('add', 'nic')).rejects.toThrow("Unknown hotplug action 'add'")
  })

  test('two hypervisors that disagree about one instance are not believed', async () => {
    const claims = (memory: number) => ({
      allInfo: () => Promise.resolve(new Map([['vm1.test', { memory, vcpus: 1, state: 0, time: 0 }]])),
    })
    const context = (memory: number) => ({
      ...node.context,
      hypervisor: (name: string) => stub(claims(name === 'kvm' ? 16 : memory)),
    })
    expect(await calls.all_instances_info(context(16), ['kvm', 'fake'])).toMatchObject({ 'vm1.test': { memory: 16 } })
    await expect(calls.all_instances_info(context(32), ['kvm', 'fake'])).rejects.toThrow(
      'Instance vm1.test is running twice with different parameters',
    )
  })

  test('a start whose job has died is over before the next job asks, stops or starts the same instance', async () => {
    const dead = AbortSignal.abort()
    let begin: () => void = () => undefined
    const prepared = new Promise<void>((resolve) => (begin = resolve))
    const fake = node.context.hypervisor('fake')
    const started: string[] = []
    const slow = stub({
      ...fake,
      start: async (dict, ...rest) => {
        started.push(dict.name)
        await prepared
        return await fake.start(dict, ...rest)
      },
    })
    const context = { ...node.context, hypervisor: () => slow }
    const first = calls.instance_start({ ...context, caller: dead }, instance, false, [])
    const listed = calls.instance_list(context, ['fake'])
    const observed = calls.instance_info(context, instance.name, 'fake')
    const second = calls.instance_start(context, instance, false, [])
    const other = { ...instance, name: 'vm2.test' }
    const stopped = calls.instance_shutdown(context, instance, 1, [])
    await expect(calls.instance_info(context, other.name, 'fake')).resolves.toEqual({})
    begin()
    await Promise.all([first, second])
    expect(await listed).toEqual([instance.name])
    expect(await observed).toMatchObject({ state: 0 })
    await stopped
    expect(started).toEqual([instance.name])
    expect(await calls.instance_list(context, ['fake'])).toEqual([])
  })

  test('a guest that a dead job still receives is there before the next job asks or takes it back', async () => {
    let begin: () => void = () => undefined
    const prepared = new Promise<void>((resolve) => (begin = resolve))
    const running = new Set<string>()
    const receiving = stub({
      accept: async ({ name }) => {
        await prepared
        running.add(name)
        return []
      },
      list: () => Promise.resolve([...running]),
      finalizeTarget: ({ name }) => Promise.resolve(void running.delete(name)),
    })
    const context = { ...node.context, hypervisor: () => receiving }
    const dead = { ...context, caller: AbortSignal.abort() }
    const accepted = migration.accept_instance(dead, instance, '', '127.0.0.1')
    const listed = calls.instance_list(context, ['fake'])
    const takenBack = migration.instance_finalize_migration_dst(context, instance, '', false)
    begin()
    await accepted
    expect(await listed).toEqual([instance.name])
    await takenBack
    expect([...running]).toEqual([])
  })

  test('an instance that will not end is an error after force has failed too', async () => {
    const requested: boolean[] = []
    const immortal = {
      info: () => Promise.resolve({ memory: 1, vcpus: 1, state: 0, time: 0 }),
      isRunning: () => Promise.resolve(true),
      stop: (_instance: unknown, options?: { force?: boolean }) =>
        Promise.resolve(void requested.push(options?.force === true)),
    }
    const context = { ...node.context, hypervisor: () => stub(immortal) }
    await expect(calls.instance_shutdown(context, instance, 0.05, [])).rejects.toThrow(
      "Could not shutdown instance 'vm1.test' even by destroy",
    )
    expect(requested).toEqual([false, true])
    const refusing = { ...immortal, stop: () => Promise.reject(new HypervisorFailure('no')) }
    await expect(
      calls.instance_shutdown({ ...node.context, hypervisor: () => stub(refusing) }, instance, 5, []),
    ).rejects.toThrow("Failed to stop instance 'vm1.test': no")
  })
})

/** The fake hypervisor with some answers of its own. */
function stub(answers: Partial<Hypervisor>): Hypervisor {
  const node = testNode()
  const fake = node.context.hypervisor('fake')
  node.remove()
  return { ...fake, ...answers }
}
