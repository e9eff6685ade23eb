// Node calls about running instances: start, stop, reboot, memory, live data and consoles. They call the instance's
// hypervisor, and add Ganeti's semantics: a call whose work is already done succeeds.
import { POWERDOWN_REPEAT_S } from '../../model/limits/hypervisor'
import { GUEST_ENDS_S } from '../../model/limits/live-data'
import { isGuestElsewhere } from '../../model/guest-state'
import type { ConsoleInfo, InstanceDict, InstanceRuntime } from '../../rpc/node/dicts'
import { messageOf } from '../../rpc/node/protocol'
import type { Handlers, NodeContext } from '../context'
import { NodeFailure, fail } from '../failure'
import { forgetGuest, modifyMetadata, showGuest } from '../metadata'
import type { Hypervisor } from '../hypervisor/hypervisor'
import { forgetSecrets, seedDisk } from '../cloud-init'
import { noteReason } from '../reasons'
import { abandonedStartsOver, startAlone, startsOver } from '../hypervisor/starts'
import { guestEnds } from '../hypervisor/kvm/guest-ends'
import { linkDisks, linkPath, removeLinks } from '../storage/links'

const USER_DOWN = 1

export const instanceHandlers = {
  async instance_start(context, instance, paused, reason) {
    const remarks = await startInstance(context, instance, paused)
    await noteReason(context, instance.name, reason, 'start')
    return toTell(remarks)
  },

  async instance_shutdown(context, instance, timeout_s, reason) {
    await stopInstance(context, instance, timeout_s)
    await noteReason(context, instance.name, reason, 'shutdown')
    return null
  },

  async instance_reboot(context, instance, rebootType, shutdownTimeout_s, reason) {
    const hypervisor = context.hypervisor(instance.hypervisor)
    if (!(await hypervisor.info(instance.name))) fail(`Cannot reboot instance '${instance.name}' that is not running`)
    let remarks: readonly string[] = []
    if (rebootType === 'soft') {
      await orFail(`Failed to soft reboot instance '${instance.name}'`, hypervisor.reboot(instance))
    } else if (rebootType === 'hard') {
      await stopInstance(context, instance, shutdownTimeout_s)
      remarks = await startInstance(context, instance, false)
    } else fail(`Invalid reboot_type received: '${rebootType}'`)
    await noteReason(context, instance.name, reason, 'reboot')
    return toTell(remarks)
  },

  async instance_balloon_memory(context, instance, memory_mib) {
    const hypervisor = context.hypervisor(instance.hypervisor)
    if (!(await hypervisor.info(instance.name))) return null
    await orFail('Failed to balloon instance memory', hypervisor.setMemory(instance, memory_mib))
    return null
  },

  gantry_guest_ends: (context, wait_s, known) => guestEnds(context, Math.min(wait_s, GUEST_ENDS_S), known),

  async instance_info(context, instanceName, hypervisorName) {
    await startsOver(context, instanceName)
    return (await context.hypervisor(hypervisorName).info(instanceName)) ?? {}
  },

  async instance_list(context, hypervisorNames) {
    await abandonedStartsOver(context, hypervisorNames)
    const names: string[] = []
    for (const name of hypervisorNames)
      names.push(...(await orFail(`Error enumerating instances (hypervisor ${name})`, context.hypervisor(name).list())))
    return names
  },

  async all_instances_info(context, hypervisorNames) {
    const found: Record<string, InstanceRuntime> = {}
    for (const hypervisorName of hypervisorNames) {
      for (const [name, runtime] of await context.hypervisor(hypervisorName).allInfo()) {
        const other = Object.hasOwn(found, name) ? found[name] : undefined
        if (other && (other.memory !== runtime.memory || other.vcpus !== runtime.vcpus))
          fail(`Instance ${name} is running twice with different parameters`)
        found[name] = runtime
      }
    }
    return found
  },

  async instance_console_info(context, instances) {
    const consoles: Record<string, ConsoleInfo> = {}
    // Includes stopped instances, because the place of a console is known before the start.
    for (const [name, request] of Object.entries(instances))
      consoles[name] = await context.hypervisor(request.instance.hypervisor).console(request)
    return consoles
  },

  async hypervisor_validate_params(context, hypervisorName, hvparams) {
    await context.hypervisor(hypervisorName).validateParameters(hvparams)
    return null
  },

  async gantry_start_problem(context, hypervisorName, hvparams, vcpus) {
    try {
      await context.hypervisor(hypervisorName).checkStart?.(hvparams, vcpus)
      return null
    } catch (error) {
      if (error instanceof NodeFailure) return error.message
      throw error
    }
  },

  async instance_metadata_modify(context, instance) {
    await modifyMetadata(context, instance)
    return null
  },

  async instance_migratable(context, instance) {
    const names = await context.hypervisor(instance.hypervisor).list()
    if (!names.includes(instance.name)) fail(`Instance ${instance.name} is not running`)
    for (const index of instance.disks_info.keys()) {
      const link = linkPath(context.paths, instance.name, index)
      const present = await context.files.lstat(link).catch(() => undefined)
      if (!present) context.log.warn({ instance: instance.name, link }, 'a disk link of a running instance is missing')
    }
    return null
  },
} satisfies Partial<Handlers>

const startInstance = (context: NodeContext, instance: InstanceDict, paused: boolean): Promise<readonly string[]> =>
  startAlone(context, instance, () => startIfDown(context, instance, paused))

async function startIfDown(context: NodeContext, instance: InstanceDict, paused: boolean): Promise<readonly string[]> {
  const hypervisor = context.hypervisor(instance.hypervisor)
  const runtime = await hypervisor.info(instance.name)
  if (runtime && runtime.state !== USER_DOWN && !isGuestElsewhere(runtime)) {
    context.log.info({ instance: instance.name }, 'instance is already running, not starting')
    if (!paused) await orFail('Hypervisor error', hypervisor.settle(instance))
    return []
  }
  await showGuest(context, instance)
  const disks = await orFail('Block device error', linkDisks(context, instance, 'guest'))
  try {
    const seed = await seedDisk(context, instance)
    const remarks = await orFail('Hypervisor error', hypervisor.start(instance, disks, paused, seed))
    await forgetSecrets(context, instance.name)
    return remarks
  } catch (error) {
    await removeLinks(context, instance.name, instance.disks_info.length)
    throw error
  }
}

/** Asks the guest to shut down. After the timeout it is forced. Leaves nothing of the instance on this node except its disks. */
async function stopInstance(context: NodeContext, instance: InstanceDict, timeout_s: number): Promise<void> {
  await startsOver(context, instance.name)
  const hypervisor = context.hypervisor(instance.hypervisor)
  if (!(await askToStop(context, hypervisor, instance, timeout_s))) {
    context.log.error({ instance: instance.name }, 'shutdown was unsuccessful, forcing')
    try {
      await hypervisor.stop(instance, { force: true })
    } catch (error) {
      if (await hypervisor.isRunning(instance.name))
        fail(`Failed to force stop instance '${instance.name}': ${messageOf(error)}`)
    }
    if (await hypervisor.isRunning(instance.name))
      fail(`Could not shutdown instance '${instance.name}' even by destroy`)
  }
  await hypervisor.cleanup(instance.name).catch((error: unknown) => {
    context.log.warn({ instance: instance.name, error: messageOf(error) }, 'the cleanup after a shutdown failed')
  })
  await forgetSecrets(context, instance.name)
  await forgetGuest(context, instance.name)
  await removeLinks(context, instance.name, instance.disks_info.length)
}

/** Returns whether the instance ended in time. Repeats the request, because a guest may miss one. */
async function askToStop(context: NodeContext, hypervisor: Hypervisor, instance: InstanceDict, timeout_s: number) {
  const { clock } = context
  const deadline = clock.monotonic_ms() + timeout_s * 1000
  let askAgain = 0
  if (!(await hypervisor.info(instance.name))) return true
  for (let pause_ms = 10; ; pause_ms = Math.min(250, pause_ms * 2)) {
    const now = clock.monotonic_ms()
    if (now >= deadline) return false
    if (now >= askAgain) {
      askAgain = now + POWERDOWN_REPEAT_S * 1000
      try {
        await hypervisor.stop(instance)
      } catch (error) {
        if (await hypervisor.isRunning(instance.name))
          fail(`Failed to stop instance '${instance.name}': ${messageOf(error)}`)
      }
    } else await clock.sleep(Math.min(pause_ms, deadline - now))
    if (!(await hypervisor.isRunning(instance.name))) return true
  }
}

/** Returns null if there are no remarks, as Ganeti's nodes do. */
export const toTell = (remarks: readonly string[]): readonly string[] | null => (remarks.length > 0 ? remarks : null)

/** Prefixes a hypervisor's or storage's error with what was attempted. */
export async function orFail<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof NodeFailure) fail(`${what}: ${error.message}`)
    throw error
  }
}
