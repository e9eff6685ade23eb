// This node's QEMU machines: launches one from its runtime data, asks it, ends it. Start, migration and hotplug share
// this.
import { within } from '../../../lib/clock'
import { accessible } from '../../../lib/files'
import { INSTANCE_LOOK_S, QMP_LOOK_S } from '../../../model/limits/hypervisor'
import type { InstanceDict, InstanceRuntime } from '../../../rpc/node/dicts'
import { HypervisorFailure } from '../hypervisor'
import type { HypervisorContext, LinkedDisk } from '../hypervisor'
import { linuxNodeInfo, startupMemory } from '../linux-node'
import { fixedCommand, machineOf } from './command'
import { PlaceAllocator, asRuntimeDisk, cacheSettings } from './devices'
import { PciBus } from './pci'
import type { Backing, NicBackend } from './devices'
import { accelerator, backingOf, missesWrites, qemuFacts } from './host'
import { KvmLayout } from './layout'
import { launchCommand } from './launch'
import type { LaunchFacts } from './launch'
import { KvmNics, USER_MODE, remarksOn } from './nics'
import { KvmParams } from './params'
import { pinCpus } from './pinning'
import { systemdScope } from './systemd-scope'
import { allProcesses, findProcess, killQemu, startQemu, startedWith, waitGone } from './process'
import type { QemuProcess } from './process'
import { isObject } from '../../../lib/shapes/shape'
import { withQmp } from './qmp'
import type { Qmp } from './qmp'
import { encodeRuntime, readRuntime, writeRuntime } from './runtime'
import type { KvmRuntime } from './runtime'
import { runAsUser } from './security'
import { screenPassword } from './screen-password'
import { seedPlace } from './cloud-init-seed'

const MIB = 1 << 20
const RUNNING = 0
const SHUT_DOWN = 1
/** Reported for an instance that its user shut down. */
const USER_DOWN: InstanceRuntime = { memory: 0, vcpus: 0, state: SHUT_DOWN, time: 0 }
/** NIC modes that announce the instance's address, which must wait until the instance is really here. */
const ANNOUNCING: readonly string[] = ['routed', 'ext']

export interface LaunchOptions {
  readonly paused?: boolean
  readonly incoming?: LaunchFacts['incoming']
}

export class KvmMachines {
  readonly layout: KvmLayout
  readonly nics: KvmNics

  constructor(readonly context: HypervisorContext) {
    this.layout = new KvmLayout(context)
    this.nics = new KvmNics(context, this.layout)
  }

  find(name: string): Promise<QemuProcess | undefined> {
    return findProcess(this.layout, name)
  }

  async all(): Promise<QemuProcess[]> {
    await this.layout.createDirectories()
    return await allProcesses(this.layout)
  }

  async running(name: string, otherwise: string): Promise<QemuProcess> {
    const process = await this.find(name)
    if (process === undefined) throw new HypervisorFailure(otherwise)
    return process
  }

  qmp<T>(name: string, task: (qmp: Qmp) => Promise<T>): Promise<T> {
    return withQmp(this.layout.socket(name, 'qmp'), this.context.clock, task)
  }

  async runtime(name: string): Promise<KvmRuntime> {
    const runtime = await readRuntime(this.context.files, this.layout.runtimeFile(name))
    if (runtime === undefined)
      throw new HypervisorFailure(`There is no KVM runtime data of instance ${name} on this node`)
    return runtime
  }

  /** Plans how QEMU sees the instance and its disks. The plan is kept until the instance ends. */
  async plan(instance: InstanceDict, disks: readonly LinkedDisk[], seed: boolean): Promise<KvmRuntime> {
    const params = new KvmParams(instance.hvparams)
    const qemu = await qemuFacts(this.context, params.text('kvm_path'))
    const { defaultMachine } = qemu
    const command = fixedCommand(instance, {
      ...{ defaultMachine, interfaceAddress: addressOf(this.context), seed },
      missesWrites: missesWrites(await accelerator(this.context.files, params), qemu),
    })
    const pci = new PciBus(machineOf(params, qemu), command, [seedPlace({ command })])
    const places = new PlaceAllocator(params, (first) => pci.place(first))
    return {
      program: qemu.program,
      command,
      hvparams: instance.hvparams,
      disks: disks.map((entry) => asRuntimeDisk(entry, places.disk(entry.disk), this.layout.virtualLink(entry.link))),
      nics: instance.nics.map((nic) => ({ ...nic, hvinfo: places.nic(nic) })),
    }
  }

  save(name: string, runtime: KvmRuntime): Promise<void> {
    return writeRuntime(this.context.files, this.layout.runtimeFile(name), encodeRuntime(runtime))
  }

  /**
   * Resolves when QEMU answers its monitor, with differences from the request. A failed launch leaves no process and no
   * tap device.
   */
  async launch(instance: InstanceDict, runtime: KvmRuntime, options: LaunchOptions = {}): Promise<string[]> {
    await this.nics.release(instance.name)
    await this.context.files.rm(this.layout.shutdownFile(instance.name), { force: true })
    try {
      const remarks = await this.startProcess(instance, runtime, options)
      await this.settle(instance, runtime, options)
      for (const remark of remarks) this.context.log.warn({ instance: instance.name }, remark)
      return remarks
    } catch (error) {
      // A failed clean-up is only logged: the error must say why the instance did not start.
      const left = (err: unknown) =>
        this.context.log.warn({ instance: instance.name, err }, 'a failed start left something')
      await this.takeBack(instance.name).catch(left)
      throw error
    }
  }

  private async takeBack(name: string): Promise<void> {
    const left = await this.find(name)
    if (left) await killQemu(left, this.layout, this.context.clock)
    await this.nics.release(name)
  }

  async connectNics(instance: InstanceDict, runtime: KvmRuntime, desired: (mode: string) => boolean): Promise<void> {
    const notes = await this.nics.notes(instance.name)
    for (const [index, nic] of runtime.nics.entries()) {
      const note = notes.get(index)
      if (note === undefined || note === USER_MODE || !desired(nic.nicparams.mode ?? 'bridged')) continue
      const backend: NicBackend = { kind: 'tap', interface: note, vhost: false, queues: 1, remarks: [] }
      await this.nics.connect(instance, nic, index, backend)
    }
  }

  async connectAnnouncingNics(instance: InstanceDict, runtime: KvmRuntime): Promise<void> {
    await this.connectNics(instance, runtime, (mode) => ANNOUNCING.includes(mode))
  }

  async info(name: string, process?: QemuProcess): Promise<InstanceRuntime | undefined> {
    const found = process ?? (await this.find(name))
    if (found === undefined)
      return (await accessible(this.context.files, this.layout.shutdownFile(name))) ? USER_DOWN : undefined
    const userNics = [...(await this.nics.notes(name))].flatMap(([index, note]) => (note === USER_MODE ? [index] : []))
    const asStarted = {
      ...startedWith(found),
      state: RUNNING,
      time: 0,
      ...(userNics.length > 0 ? { user_nics: userNics.sort((a, b) => a - b) } : {}),
    }
    try {
      const look = this.qmp(name, async (qmp) => {
        const status = await qmp.status(QMP_LOOK_S)
        if (status === 'shutdown') return await this.noteUserShutdown(found, qmp)
        const cpus = await qmp.run('query-cpus-fast', undefined, QMP_LOOK_S)
        const balloon: unknown = await qmp.run('query-balloon', undefined, QMP_LOOK_S).catch(() => undefined)
        const actual = isObject(balloon) ? Math.floor(Number(balloon['actual']) / MIB) : asStarted.memory
        const vcpus = Array.isArray(cpus) ? cpus.length : asStarted.vcpus
        return { ...asStarted, memory: actual, vcpus, ...(status !== 'running' && { machine_state: status }) }
      })
      const observed = await within(this.context.clock, INSTANCE_LOOK_S, look)
      if (observed !== undefined) return observed
    } catch (error) {
      if (!(error instanceof HypervisorFailure)) throw error
    }
    // It is just ending, or its monitor is busy or hangs. In both cases its process tells what is known.
    return (await this.find(name)) ? asStarted : undefined
  }

  async kill(process: QemuProcess): Promise<void> {
    await killQemu(process, this.layout, this.context.clock)
    await this.nics.release(process.name)
  }

  /** The guest powered itself off, and QEMU waits for us to see it: notes it, and frees the memory. */
  async noteUserShutdown(process: QemuProcess, qmp: Qmp): Promise<InstanceRuntime> {
    await this.context.files.writeFile(this.layout.shutdownFile(process.name), '')
    await this.context.files.rm(this.layout.seedFile(process.name), { force: true })
    await qmp.run('quit').catch(() => undefined)
    if (!(await waitGone(process.pid, this.layout, this.context.clock, 5))) await this.kill(process)
    return USER_DOWN
  }

  private async startProcess(instance: InstanceDict, runtime: KvmRuntime, options: LaunchOptions): Promise<string[]> {
    await this.layout.createDirectories()
    const configured = new KvmParams(instance.hvparams)
    const qemu = await qemuFacts(this.context, configured.text('kvm_path'))
    const runAs = await runAsUser(this.context, this.layout, instance.name, configured)
    const started = new KvmParams(runtime.hvparams)
    const backends: NicBackend[] = []
    for (const [index, nic] of runtime.nics.entries())
      backends.push(await this.nics.prepare(instance, nic, index, started, runAs))
    await this.connectNics(instance, runtime, (mode) => !options.incoming || !ANNOUNCING.includes(mode))
    if (configured.flag('use_chroot'))
      await this.context.files.mkdir(this.layout.chrootDir(instance.name), { recursive: true, mode: 0o700 })
    const backings = await Promise.all(
      runtime.disks.map(({ link }) => backingOf(this.context.files, this.layout.localLink(link))),
    )
    const facts: LaunchFacts = {
      accelerator: await accelerator(this.context.files, configured),
      qemuVersion: [qemu.version[0], qemu.version[1]],
      backends,
      backings,
      startPaused: options.incoming === undefined && (options.paused === true || needsPreparation(instance, runtime)),
      ...(this.context.paths.root === '' ? {} : { onlyAddress: this.context.bindAddress }),
      ...(options.incoming ? { incoming: options.incoming } : {}),
      ...(runAs ? { runAs } : {}),
    }
    const args = launchCommand(instance.name, runtime, configured, facts, this.layout)
    const command = [...systemdScope(this.context, instance.name), qemu.program, ...args]
    await startQemu(this.context, command, this.layout.logFile(instance.name))
    return [...backends.flatMap(remarksOn), ...cacheRemarks(runtime, backings)]
  }

  /** Passwords, pinning and memory are set while the machine is still paused. */
  private async settle(instance: InstanceDict, runtime: KvmRuntime, options: LaunchOptions): Promise<void> {
    const params = new KvmParams(instance.hvparams)
    const process = await this.running(instance.name, `QEMU of instance ${instance.name} ended right after its start`)
    const free_mib = (await linuxNodeInfo(this.context.files)).memory_free
    await this.qmp(instance.name, async (qmp) => {
      for (const [protocol, file] of screenPasswords(params))
        await qmp.run('set_password', { protocol, password: await screenPassword(this.context, file) })
      await pinCpus(this.context.run, qmp, new KvmParams(runtime.hvparams).text('cpu_mask'), process.pid)
      if (options.incoming) return
      const memory = startupMemory(instance, free_mib)
      if (memory < instance.beparams.maxmem) await qmp.run('balloon', { value: memory * MIB })
      if (!options.paused && (await qmp.status()) === 'prelaunch') await qmp.run('cont')
    })
  }
}

/** A disk that wanted to be written around the page cache, on a file system that cannot. */
function cacheRemarks({ disks, hvparams }: KvmRuntime, backings: readonly Backing[]): string[] {
  const cache = new KvmParams(hvparams).text('disk_cache')
  return disks.flatMap(({ disk }, index) =>
    backings[index]?.directIo === false && cacheSettings(cache, disk).direct
      ? [`Disk ${index} is cached by the node: its file system has no direct IO`]
      : [],
  )
}

function needsPreparation(instance: InstanceDict, runtime: KvmRuntime): boolean {
  const params = new KvmParams({ ...instance.hvparams, cpu_mask: runtime.hvparams['cpu_mask'] })
  const mask = params.text('cpu_mask')
  return (
    screenPasswords(params).length > 0 ||
    (mask !== '' && mask !== 'all') ||
    instance.beparams.minmem < instance.beparams.maxmem
  )
}

/** A password file without a screen has no effect. */
function screenPasswords(params: KvmParams): [protocol: string, file: string][] {
  const screens: [protocol: string, bind: string][] = [
    ['vnc', params.text('vnc_bind_address')],
    ['spice', params.text('spice_bind')],
  ]
  return screens.flatMap(([protocol, bind]): [string, string][] => {
    const file = params.text(`${protocol}_password_file`)
    return bind === '' || file === '' ? [] : [[protocol, file]]
  })
}

const addressOf =
  ({ networkInterfaces }: HypervisorContext) =>
  (name: string): string | undefined => {
    const addresses = networkInterfaces()[name] ?? []
    return (addresses.find((entry) => entry.family === 'IPv4') ?? addresses[0])?.address
  }
