// The contract of every hypervisor: the same tests run against each entry of the table.
import * as path from 'node:path'
import type { Hypervisor, HypervisorContext } from '../../../../src/node/hypervisor/hypervisor'
import { hypervisors, hypervisorsOf } from '../../../../src/node/hypervisor/index'
import type { HvParams, InstanceDict } from '../../../../src/rpc/node/dicts'
import {
  contextIn,
  eventually,
  freePort,
  instanceDict,
  kvmParams,
  linked,
  qemuProcessesBelow,
} from '../../../support/hypervisor'
import { stillHypervisor } from '../../../support/doubles/still-hypervisor'
import { qemuPresent } from '../../../support/needs'
import { qemuSkipped, removeRoot, temporaryRoot, tinyDisk } from '../../../support/hypervisor'

interface Entry {
  readonly present: boolean
  readonly params: HvParams
  readonly hotplug: boolean
}

const entries: Readonly<Record<string, Entry>> = {
  fake: { present: true, params: { migration_mode: 'live' }, hotplug: false },
  kvm: { present: qemuPresent, params: kvmParams, hotplug: true },
  still: { present: true, params: {}, hotplug: false },
}
/** They obey the same rules, and are in no node's table. */
const doubles: typeof hypervisors = { still: stillHypervisor }
const made = (context: HypervisorContext, name: string): Hypervisor =>
  doubles[name]?.(context) ?? hypervisorsOf(context)(name)

test('every hypervisor of the table is under contract', () => {
  expect(Object.keys(entries).sort()).toEqual(Object.keys({ ...hypervisors, ...doubles }).sort())
})

test('an unknown hypervisor is refused with the known ones named', () => {
  const root = temporaryRoot()
  const find = hypervisorsOf(contextIn(root))
  expect(() => find('xen-pvm')).toThrow(/Unknown hypervisor 'xen-pvm' .*fake, kvm/)
  expect(() => find('constructor')).toThrow(/Unknown hypervisor/)
  expect(find('fake')).toBe(find('fake'))
  removeRoot(root)
})

describe.each(Object.entries(entries))('hypervisor %s', (name, entry) => {
  const when = entry.present ? test : test.skip
  if (!entry.present) test.skip(qemuSkipped, () => undefined)

  let root: string
  let context: HypervisorContext
  let hypervisor: Hypervisor
  let instance: InstanceDict

  beforeEach(async () => {
    root = temporaryRoot()
    context = contextIn(root)
    hypervisor = made(context, name)
    const disk = entry.present ? [tinyDisk(path.join(root, 'disk'))] : []
    const migration_port = await freePort('127.0.0.1')
    instance = instanceDict({ hypervisor: name, hvparams: { ...entry.params, migration_port }, disks_info: disk })
  })
  afterEach(() => {
    const left = qemuProcessesBelow(root)
    removeRoot(root)
    expect(left).toEqual([])
  })

  const start = () => hypervisor.start(instance, linked(context, instance), false)
  const end = async (where = hypervisor) => {
    if (name === 'kvm') expect(qemuProcessesBelow(root)).not.toEqual([])
    await where.stop(instance, { force: true })
    await where.cleanup(instance.name)
  }

  when('a new node runs nothing', async () => {
    expect(await hypervisor.list()).toEqual([])
    expect(await hypervisor.info(instance.name)).toBeUndefined()
    expect([...(await hypervisor.allInfo())]).toEqual([])
  })

  when('a started instance is listed with its memory and processors until it is stopped', async () => {
    await start()
    expect(await hypervisor.list()).toEqual([instance.name])
    expect(await hypervisor.info(instance.name)).toEqual({ memory: 16, vcpus: 1, state: 0, time: 0 })
    expect([...(await hypervisor.allInfo()).keys()]).toEqual([instance.name])
    await end()
    expect(await hypervisor.list()).toEqual([])
    expect(await hypervisor.info(instance.name)).toBeUndefined()
  })

  when('another object for the same node finds the running instance', async () => {
    await start()
    const restarted = made(context, name)
    expect(await restarted.list()).toEqual([instance.name])
    await end(restarted)
    expect(await hypervisor.list()).toEqual([])
  })

  when('an instance that runs is not started twice', async () => {
    await start()
    await expect(start()).rejects.toThrow(/already running/)
    expect(await hypervisor.list()).toEqual([instance.name])
    await end()
  })

  when('a live instance is not cleaned up, a dead one may be more than once', async () => {
    await start()
    await expect(hypervisor.cleanup(instance.name)).rejects.toThrow('Cannot cleanup a live instance')
    await end()
    await hypervisor.cleanup(instance.name)
  })

  when('a reboot keeps the instance running, and needs it to run', async () => {
    await expect(hypervisor.reboot(instance)).rejects.toThrow(/not running/)
    await start()
    await hypervisor.reboot(instance)
    expect(await hypervisor.list()).toEqual([instance.name])
    await end()
  })

  when('names that leave the run directory are refused', async () => {
    for (const bad of ['', '../x', 'a/b', '.hidden'])
      await expect(hypervisor.info(bad)).rejects.toThrow(/Not an instance name/)
  })

  when('a migration moves the instance from one node to the other', async () => {
    const other = contextIn(root, 'node2.test')
    const target = made(other, name)
    linked(other, instance)
    await start()
    const info = await hypervisor.migrationInfo(instance)
    await target.accept(instance, info, '127.0.0.1')
    await hypervisor.migrate(instance, '127.0.0.1', true)
    const status = await eventually(async () => {
      const now = await hypervisor.migrationStatus(instance)
      return now.status === 'active' ? undefined : now
    })
    expect(status.status).toBe('completed')
    await target.finalizeTarget(instance, info, true)
    await hypervisor.finalizeSource(instance, true, true)
    expect(await hypervisor.list()).toEqual([])
    expect(await target.info(instance.name)).toMatchObject({ memory: 16, vcpus: 1, state: 0 })
    await end(target)
    expect(await target.list()).toEqual([])
  })

  when('the end of a migration that comes too late starts nothing', async () => {
    const other = contextIn(root, 'node2.test')
    const target = made(other, name)
    linked(other, instance)
    await start()
    const info = await hypervisor.migrationInfo(instance)
    await expect(target.finalizeTarget(instance, info, true)).rejects.toThrow(instance.name)
    await target.accept(instance, info, '127.0.0.1')
    await target.finalizeTarget(instance, info, false)
    await expect(target.finalizeTarget(instance, info, true)).rejects.toThrow(instance.name)
    expect(await target.list()).toEqual([])
    await hypervisor.finalizeSource(instance, false, true)
    await end()
  })

  when('a migration that failed leaves the instance where it was, and nothing on the target', async () => {
    const other = contextIn(root, 'node2.test')
    const target = made(other, name)
    linked(other, instance)
    await start()
    const info = await hypervisor.migrationInfo(instance)
    await target.accept(instance, info, '127.0.0.1')
    await target.finalizeTarget(instance, info, false)
    await hypervisor.finalizeSource(instance, false, true)
    expect(await target.list()).toEqual([])
    expect(await hypervisor.info(instance.name)).toMatchObject({ state: 0 })
    await end()
  })

  when('a node refuses to receive an instance that it runs', async () => {
    await start()
    const info = await hypervisor.migrationInfo(instance)
    await expect(hypervisor.accept(instance, info, '127.0.0.1')).rejects.toThrow(
      "Can't accept instance, already running",
    )
    await end()
  })

  when('an instance that does not run cannot migrate', async () => {
    await expect(hypervisor.migrate(instance, '127.0.0.1', true)).rejects.toThrow(
      'Instance not running, cannot migrate',
    )
  })

  when('the node tells its memory and processors, and finds itself fit', async () => {
    const info = await hypervisor.nodeInfo()
    expect(info.memory_total).toBeGreaterThan(info.memory_free)
    expect(info.cpu_total).toBeGreaterThan(0)
    expect(await hypervisor.verify(entry.params)).toBeUndefined()
    await hypervisor.validateParameters(entry.params)
  })

  when("a console is described in one of Ganeti's kinds", async () => {
    const request = { instance, node: { name: 'node1.test' }, group: {}, hvParams: entry.params, beParams: {} }
    const answer = await hypervisor.console(request)
    expect(answer.instance).toBe(instance.name)
    expect(['msg', 'ssh', 'vnc', 'spice']).toContain(answer.kind)
  })

  when('memory is changed while it runs', async () => {
    await start()
    await hypervisor.setMemory(instance, 12)
    await end()
  })

  when('hotplug is offered or refused in words', async () => {
    await start()
    if (entry.hotplug) await hypervisor.checkHotplug(instance, 'hotadd', 'disk')
    else await expect(hypervisor.checkHotplug(instance, 'hotadd', 'disk')).rejects.toThrow(/not supported/)
    await end()
  })
})

test('a fake instance that was shut down while it was awaited is not started by the late end of its migration', async () => {
  const root = temporaryRoot()
  const fake = hypervisorsOf(contextIn(root))('fake')
  const instance = instanceDict({ hypervisor: 'fake' })
  for (const undo of [
    () => fake.cleanup(instance.name),
    () => fake.start(instance, [], false).then(() => fake.stop(instance, { force: true })),
  ]) {
    await fake.accept(instance, '', '127.0.0.1')
    await undo()
    await expect(fake.finalizeTarget(instance, '', true)).rejects.toThrow('is not awaited by a migration any more')
  }
  await fake.accept(instance, '', '127.0.0.1')
  for (let times = 0; times < 2; times++) await fake.finalizeTarget(instance, '', true)
  expect(await fake.list()).toEqual([instance.name])
  removeRoot(root)
})
