// Ganeti's fake hypervisor: an instance runs if a file with its name is in the run directory.
import * as path from 'node:path'
import { isMissing } from '../../lib/disk'
import { accessible, type Files } from '../../lib/files'
import type { HypervisorInfo, InstanceDict, InstanceRuntime } from '../../rpc/node/dicts'
import { HypervisorFailure } from './hypervisor'
import type { Hypervisor, HypervisorContext } from './hypervisor'
import { linuxNodeInfo, startupMemory } from './linux-node'

const RUN_DIRS_MODE = 0o775

export function fakeHypervisor(context: HypervisorContext): Hypervisor {
  const state = new FakeState(context.paths.local('/var/run/ganeti/fake-hypervisor'), context.files)
  const unsupported = () => Promise.reject(new HypervisorFailure('Hotplug is not supported by this hypervisor'))
  return {
    name: 'fake',
    list: () => state.names(),
    info: (name) => state.read(name),
    isRunning: async (name) => (await state.read(name)) !== undefined,
    allInfo: () => state.all(),
    ...runs(state),
    ...migrates(state),
    console: ({ instance }) =>
      Promise.resolve({ instance: instance.name, kind: 'msg', message: 'Console not available for fake hypervisor' }),
    nodeInfo: () => nodeInfo(state),
    verify: () => state.problem(),
    validateParameters: () => Promise.resolve(),
    checkHotplug: unsupported,
    hotplug: unsupported,
    resizeDisk: () => Promise.resolve(),
  }
}

function runs(state: FakeState) {
  return {
    async start(instance) {
      if (await state.read(instance.name))
        throw new HypervisorFailure(`Failed to start instance ${instance.name}: already running`)
      await state.noteAwaited(instance.name, false)
      await markUp(state, instance)
      return []
    },
    settle: () => Promise.resolve(),
    async stop(instance) {
      await state.running(instance.name, `Failed to stop instance ${instance.name}: not running`)
      await state.remove(instance.name)
    },
    async cleanup(instanceName) {
      if (await state.read(instanceName)) throw new HypervisorFailure('Cannot cleanup a live instance')
      await state.noteAwaited(instanceName, false)
    },
    reboot: (instance) => state.running(instance.name, `Failed to reboot instance ${instance.name}: not running`),
    async setMemory(instance, memory_mib) {
      await state.running(instance.name, `Failed to balloon memory for ${instance.name}: not running`)
      await state.write(instance, memory_mib)
    },
  } satisfies Partial<Hypervisor>
}

/** Nothing is transferred: the target starts the instance when it is told that the migration succeeded. */
function migrates(state: FakeState) {
  return {
    migrationInfo: () => Promise.resolve(''),
    async accept(instance) {
      if (await state.read(instance.name)) throw new HypervisorFailure("Can't accept instance, already running")
      await state.noteAwaited(instance.name, true)
      return []
    },
    migrate: (instance) => state.running(instance.name, 'Instance not running, cannot migrate'),
    migrationStatus: () => Promise.resolve({ status: 'completed' }),
    canEncrypt: () => Promise.resolve(false),
    recoverMigration: () => Promise.reject(new HypervisorFailure('Nothing is transferred that could be interrupted')),
    async finalizeTarget({ name, ...rest }, _info, success) {
      if (!success) await state.remove(name)
      else if ((await state.read(name)) === undefined) {
        // A late message finds nothing that waits: the instance may run elsewhere by now.
        if (!(await state.isAwaited(name)))
          throw new HypervisorFailure(
            `Instance ${name} is not awaited by a migration any more, so it is not started here`,
          )
        await markUp(state, { name, ...rest })
      }
      await state.noteAwaited(name, false)
      return undefined
    },
    finalizeSource: async (instance, success) => (success ? state.remove(instance.name) : undefined),
  } satisfies Partial<Hypervisor>
}

async function markUp(state: FakeState, instance: InstanceDict): Promise<void> {
  await state.write(instance, startupMemory(instance, (await nodeInfo(state)).memory_free))
}

async function nodeInfo(state: FakeState): Promise<HypervisorInfo> {
  const node = await linuxNodeInfo(state.files)
  const used = [...(await state.all()).values()].reduce((sum, runtime) => sum + runtime.memory, 0)
  return { ...node, memory_free: Math.max(0, node.memory_free - used) }
}

/** A file for each instance, with one line each for its number (always 0), memory in MiB and virtual CPUs. */
class FakeState {
  constructor(
    private readonly directory: string,
    readonly files: Files,
  ) {}

  async names(): Promise<string[]> {
    await this.files.mkdir(this.directory, { recursive: true, mode: RUN_DIRS_MODE })
    return (await this.files.readdir(this.directory)).filter((name) => !name.startsWith('.')).sort()
  }

  async read(name: string): Promise<InstanceRuntime | undefined> {
    try {
      const [, memory, vcpus] = (await this.files.readFile(this.file(name), 'utf8')).split('\n')
      return { memory: Number(memory), vcpus: Number(vcpus), state: 0, time: 0 }
    } catch (error) {
      if (isMissing(error)) return undefined
      throw new HypervisorFailure(`Failed to list instance ${name}: ${String(error)}`)
    }
  }

  async running(name: string, otherwise: string): Promise<void> {
    if (!(await this.read(name))) throw new HypervisorFailure(otherwise)
  }

  async all(): Promise<Map<string, InstanceRuntime>> {
    const found = new Map<string, InstanceRuntime>()
    for (const name of await this.names()) {
      const runtime = await this.read(name)
      if (runtime) found.set(name, runtime)
    }
    return found
  }

  async write(instance: InstanceDict, memory_mib: number): Promise<void> {
    await this.files.mkdir(this.directory, { recursive: true, mode: RUN_DIRS_MODE })
    // Renamed into place, so that a list never finds a half-written file.
    const temporary = `${this.hidden(instance.name)}.new`
    await this.files.writeFile(temporary, `0\n${memory_mib}\n${instance.beparams.vcpus}\n`)
    await this.files.rename(temporary, this.file(instance.name))
  }

  remove(name: string): Promise<void> {
    return this.files.rm(this.file(name), { force: true })
  }

  /**
   * Another hypervisor would have a process that waits for the guest's memory. Like that process, the note disappears
   * when the machine reboots.
   */
  async noteAwaited(name: string, awaited: boolean): Promise<void> {
    const mark = `${this.hidden(name)}.incoming`
    if (!awaited) return this.files.rm(mark, { force: true })
    await this.files.mkdir(this.directory, { recursive: true, mode: RUN_DIRS_MODE })
    await this.files.writeFile(mark, '')
  }

  isAwaited(name: string): Promise<boolean> {
    return accessible(this.files, `${this.hidden(name)}.incoming`)
  }

  async problem(): Promise<string | undefined> {
    try {
      await this.names()
      return undefined
    } catch {
      return `The required directory '${this.directory}' does not exist`
    }
  }

  /** Names that begin like this are no instances. */
  private hidden(name: string): string {
    return path.join(this.directory, `.${path.basename(this.file(name))}`)
  }

  private file(name: string): string {
    if (name === '' || name.startsWith('.') || name.includes('/'))
      throw new HypervisorFailure(`Not an instance name: ${JSON.stringify(name)}`)
    return path.join(this.directory, name)
  }
}
