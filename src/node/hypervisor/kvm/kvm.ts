// The KVM hypervisor: one QEMU process for each instance, with Ganeti's files. Without virtualization in the processor,
// QEMU translates the guest's code.
import type { Files } from '../../../lib/files'
import type { HypervisorInfo, InstanceDict, InstanceRuntime } from '../../../rpc/node/dicts'
import { QMP_LOOK_S } from '../../../model/limits/hypervisor'
import { HypervisorFailure } from '../hypervisor'
import type { Hypervisor, HypervisorContext, LinkedDisk, StopOptions, Stopped } from '../hypervisor'
import { linuxNodeInfo } from '../linux-node'
import { consoleInfo } from './console'
import { kvmConsoles } from './consoles'
import { QEMU_INSTALL, findQemu, qemuFacts, type Host } from './host'
import { checkHotplug, hotplug, resizeDisk } from './hotplug'
import { SHUTDOWN } from './layout'
import { KvmMachines } from './machines'
import { recoverMigration } from './migration-recovery'
import {
  accept,
  finalizeSource,
  finalizeTarget,
  handedOver,
  migrate,
  migrationInfo,
  migrationStatus,
  wayOut,
} from './migration'
import { canEncrypt } from './migration-tls'
import { migrationSide } from './migration-side'
import { KvmParams } from './params'
import { checkPinning } from './pinning'
import { LostMonitor, SilentMonitor } from './qmp'
import type { Qmp } from './qmp'
import { oldMachines } from './old-machines'
import { writeSeed } from './cloud-init-seed'
import { checkParameters, checkStart, validateParameters } from './validate'

const MIB = 1 << 20
/** Run states without a guest that could answer. */
const NO_GUEST: readonly string[] = [
  ...['shutdown', 'inmigrate', 'postmigrate', 'finish-migrate', 'prelaunch', 'internal-error', 'io-error'],
]

export function kvmHypervisor(context: HypervisorContext): Hypervisor {
  const machines = new KvmMachines(context)
  return {
    name: 'kvm',
    list: () => list(machines),
    info: (name) => machines.info(name),
    allInfo: () => allInfo(machines),
    isRunning: async (name) => (await machines.find(name)) !== undefined,
    start: (instance, disks, paused, seed) => start(machines, instance, disks, paused, seed),
    settle: (instance) => settle(machines, instance),
    stop: (instance, options) => stop(machines, instance, options ?? {}),
    cleanup: (name) => cleanup(machines, name),
    reboot: (instance) => reboot(machines, instance),
    setMemory: (instance, memory_mib) =>
      machines.qmp(instance.name, async (qmp) => void (await qmp.run('balloon', { value: memory_mib * MIB }))),

    migrationInfo: (instance) => migrationInfo(machines, instance),
    accept: (instance, info, target, secure) => accept(machines, instance, info, target, secure),
    migrate: (instance, target, live, secure) => migrate(machines, instance, target, live, secure),
    canEncrypt: () => canEncrypt(machines),
    migrationStatus: (instance) => migrationStatus(machines, instance),
    recoverMigration: (instance, target, side) => recoverMigration(machines, instance, target, side),
    finalizeTarget: (instance, info, success) => finalizeTarget(machines, instance, info, success),
    finalizeSource: (instance, success) => finalizeSource(machines, instance, success),

    console: (request) => Promise.resolve(consoleInfo(request, machines.layout, context)),
    consoles: kvmConsoles(machines),
    nodeInfo: () => nodeInfo(context),
    oldMachines: () => oldMachines(machines),
    verify: (hvparams) => verify(context.files, new KvmParams(hvparams)),
    validateParameters: (hvparams) => validateParameters(context, hvparams),
    checkStart: (hvparams, vcpus) => checkStart(context, hvparams, vcpus),
    checkHotplug: (instance, action, target) => checkHotplug(machines, instance, action, target),
    hotplug: (instance, action, device, index) => hotplug(machines, instance, action, device, index),
    resizeDisk: (instance, disk, size_bytes) => resizeDisk(machines, instance, disk, size_bytes),
  }
}

async function list(machines: KvmMachines): Promise<string[]> {
  const running = (await machines.all()).map((process) => process.name)
  const notes = (await machines.context.files.readdir(machines.layout.controlDir())).filter((entry) =>
    entry.endsWith(SHUTDOWN),
  )
  return [...new Set([...running, ...notes.map((entry) => entry.slice(0, -SHUTDOWN.length))])].sort()
}

async function allInfo(machines: KvmMachines): Promise<Map<string, InstanceRuntime>> {
  const names = await list(machines)
  const found = await Promise.all(names.map(async (name) => [name, await machines.info(name)] as const))
  return new Map(found.flatMap(([name, runtime]) => (runtime ? [[name, runtime]] : [])))
}

async function start(
  machines: KvmMachines,
  instance: InstanceDict,
  disks: readonly LinkedDisk[],
  paused: boolean,
  seed: Uint8Array | undefined,
): Promise<string[]> {
  await checkParameters(machines.context, instance.hvparams)
  const mask = new KvmParams(instance.hvparams).text('cpu_mask')
  checkPinning(mask, instance.beparams.vcpus)
  const existing = await machines.find(instance.name)
  if (existing) {
    const status = await machines.qmp(instance.name, (qmp) => qmp.status())
    // A QEMU that a migration or a guest's own shutdown left behind is ended; a running guest is not.
    if (!['inmigrate', 'shutdown'].includes(status)) {
      await machines.qmp(instance.name, checkNotHandedOver(instance.name))
      throw new HypervisorFailure(`Instance ${instance.name} is already running: pid ${existing.pid}`)
    }
    await machines.kill(existing)
  }
  await machines.layout.createDirectories()
  const runtime = await machines.plan(instance, disks, seed !== undefined)
  await machines.save(instance.name, runtime)
  try {
    await writeSeed(machines.context.files, machines.layout, instance.name, seed)
    return await machines.launch(instance, runtime, { paused })
  } catch (error) {
    await machines.layout.removeInstance(instance.name)
    throw error
  }
}

async function settle(machines: KvmMachines, instance: InstanceDict): Promise<void> {
  await machines.qmp(instance.name, async (qmp) => {
    if ((await qmp.status()) === 'prelaunch') return void (await qmp.run('cont'))
    const { phase, state } = await migrationSide(qmp)
    if (phase === 'after')
      throw new HypervisorFailure(
        `Instance ${instance.name} waits for a part of its memory (QEMU says ${state}); ${wayOut(instance.name)}`,
      )
  })
}

async function stop(machines: KvmMachines, instance: Stopped, options: StopOptions): Promise<void> {
  const process = await machines.find(instance.name)
  await machines.context.files.rm(machines.layout.shutdownFile(instance.name), { force: true })
  if (!process) return
  if (options.force || !new KvmParams(instance.hvparams).flag('acpi')) return await machines.kill(process)
  await machines
    .qmp(instance.name, (qmp) => powerdown(instance.name, qmp))
    .catch(async (error: unknown) => {
      // It may have ended between the check and the request.
      if (!(await machines.find(instance.name))) return
      // The caller asks again, and finally forces the instance to stop.
      if (!(error instanceof SilentMonitor || error instanceof LostMonitor)) throw error
      machines.context.log.warn(
        { instance: instance.name, error: error.message },
        'its monitor did not confirm the shutdown',
      )
    })
}

/** The guest of such a machine runs on another node, with newer memory than here. */
const checkNotHandedOver = (name: string) => async (qmp: Qmp) => {
  const { switched, machine, state } = await migrationSide(qmp)
  if (switched) throw new HypervisorFailure(handedOver(name, machine, state))
}

async function powerdown(name: string, qmp: Qmp): Promise<void> {
  const status = await qmp.status(QMP_LOOK_S)
  if (status === 'finish-migrate') {
    const { phase, machine, state } = await migrationSide(qmp)
    // It still has memory of the guest that now runs on the target. A stop with force takes it away.
    if (phase === 'after') throw new HypervisorFailure(handedOver(name, machine, state))
  }
  if (NO_GUEST.includes(status)) return void (await qmp.run('quit'))
  if (status === 'paused') await qmp.run('cont')
  // The administrator wants it down, so its end need not be noted as a user shutdown. Unknown before QEMU 6.
  await qmp.run('set-action', { shutdown: 'poweroff' }).catch(() => undefined)
  await qmp.run('system_powerdown')
}

async function cleanup(machines: KvmMachines, name: string): Promise<void> {
  if (await machines.find(name)) throw new HypervisorFailure('Cannot cleanup a live instance')
  await machines.nics.release(name)
  await machines.layout.removeInstance(name)
}

async function reboot(machines: KvmMachines, instance: InstanceDict): Promise<void> {
  const process = await machines.running(instance.name, `Failed to reboot instance ${instance.name}: not running`)
  const runtime = await machines.runtime(instance.name)
  if (!process.command.includes('-no-reboot')) {
    await machines.qmp(instance.name, async (qmp) => {
      await checkNotHandedOver(instance.name)(qmp)
      await qmp.run('system_reset')
      if ((await qmp.status()) !== 'running') await qmp.run('cont')
    })
    return
  }
  await machines.qmp(instance.name, checkNotHandedOver(instance.name))
  // Such a machine ends at a reset, so it is started again with the same hardware.
  await machines.kill(process)
  await machines.launch(instance, runtime)
}

async function nodeInfo(host: Host): Promise<HypervisorInfo> {
  const node = await linuxNodeInfo(host.files)
  const qemu = await qemuFacts(host, '').catch(() => undefined)
  return { ...node, ...(qemu ? { hv_version: qemu.version } : {}) }
}

async function verify(files: Files, params: KvmParams): Promise<string | undefined> {
  const kvmPath = params.text('kvm_path') || '/usr/bin/kvm'
  if (await findQemu(files, kvmPath)) return undefined
  return `The KVM binary ('${kvmPath}') does not exist; install it with: ${QEMU_INSTALL}`
}
