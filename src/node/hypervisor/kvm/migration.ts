// Live migration between two nodes' QEMU processes. The target starts first, with the source's runtime data, and waits
// on its own address. The source sends. Then each side is told how it ended.
import { endOf } from '../../../lib/text/short-text'
import { HypervisorFailure } from '../hypervisor'
import { lossRemarks } from './command'
import { accelerator, missesWrites, qemuFacts } from './host'
import type { InstanceDict, MigrationStatus } from '../../../rpc/node/dicts'
import type { KvmMachines } from './machines'
import { KvmParams } from './params'
import type { QemuProcess } from './process'
import { isObject } from '../../../lib/shapes/shape'
import type { Qmp } from './qmp'
import { decodeRuntime, encodeRuntime } from './runtime'
import { packedSeed, unpackedSeed, writeSeed } from './seed'
import { asItRuns, checkSameMachine, runningMachine } from './same-machine'
import { MIGRATION_SWITCH_S } from '../../../model/limits/hypervisor'
import { TOLD_CHARS_MAX } from '../../../model/limits/node'

const MIB = 1 << 20
/** Copy rounds after which a guest with postcopy is switched. */
const POSTCOPY_AFTER_ROUNDS = 2
/** QEMU's finer states, in Ganeti's words. */
const STATES: Readonly<Record<string, string>> = {
  setup: 'active',
  'wait-unplug': 'active',
  active: 'active',
  'pre-switchover': 'active',
  device: 'active',
  'postcopy-active': 'postcopy-active',
  'postcopy-paused': 'failed',
  completed: 'completed',
  cancelling: 'cancelled',
  cancelled: 'cancelled',
  failed: 'failed',
}

export async function migrationInfo(machines: KvmMachines, instance: InstanceDict): Promise<string> {
  const runtime = await machines.runtime(instance.name)
  const { context, layout } = machines
  const running = await asItRuns(context.files, runtime, await machines.qmp(instance.name, runningMachine))
  const seed = await packedSeed(context.files, layout, instance.name)
  return encodeRuntime({ ...running, ...(seed !== undefined && { seed }) })
}

export async function accept(
  machines: KvmMachines,
  instance: InstanceDict,
  info: string,
  target: string,
): Promise<string[]> {
  const runtime = decodeRuntime(info)
  const params = new KvmParams(instance.hvparams)
  const existing = await machines.find(instance.name)
  // Messages of an earlier run of this guest must not be taken for the reason of a failure now.
  if (!existing) await machines.context.files.rm(machines.layout.logFile(instance.name), { force: true })
  await checkSameMachine(machines.context, instance, runtime)
  if (existing) {
    const waiting = await machines.qmp(instance.name, async (qmp) => (await qmp.status()) === 'inmigrate')
    if (!waiting) throw new HypervisorFailure("Can't accept instance, already running")
    // An earlier migration ended without telling this side.
    await machines.kill(existing)
  }
  await machines.layout.createDirectories()
  await writeSeed(machines.context.files, machines.layout, instance.name, unpackedSeed(runtime.seed))
  const incoming = { address: target, port: params.number('migration_port') }
  const remarks = await machines.launch(instance, runtime, { incoming })
  await machines.qmp(instance.name, (qmp) => setCapabilities(qmp, params, true))
  const qemu = await qemuFacts(machines.context, params.text('kvm_path'))
  const isMissing = missesWrites(await accelerator(machines.context.files, params), qemu)
  return [...(isMissing ? lossRemarks(runtime.command) : []), ...remarks]
}

export async function migrate(
  machines: KvmMachines,
  instance: InstanceDict,
  target: string,
  live: boolean,
): Promise<void> {
  const params = new KvmParams(instance.hvparams)
  await machines.running(instance.name, 'Instance not running, cannot migrate')
  const host = target.includes(':') ? `[${target}]` : target
  await machines.qmp(instance.name, async (qmp) => {
    if (!live) await qmp.run('stop')
    await qmp.run('migrate-set-parameters', {
      'max-bandwidth': params.number('migration_bandwidth') * MIB,
      'downtime-limit': params.number('migration_downtime'),
    })
    await setCapabilities(qmp, params, true)
    // Without it the source is done when everything is sent, even if the target then fails to load it.
    await setCapability(qmp, 'return-path')
    await qmp.run('migrate', { uri: `tcp:${host}:${params.number('migration_port')}` })
  })
}

export async function migrationStatus(machines: KvmMachines, instance: InstanceDict): Promise<MigrationStatus> {
  return await machines.qmp(instance.name, async (qmp) => {
    const answer = await qmp.object('query-migrate')
    const status = STATES[String(answer['status'])] ?? 'failed'
    const ram = answer['ram']
    if (!isObject(ram)) return { status }
    const progress = { status, transferred_ram: Number(ram['transferred']), total_ram: Number(ram['total']) }
    const postcopy = new KvmParams(instance.hvparams).text('migration_caps').includes('postcopy-ram')
    if (!postcopy || status !== 'active' || Number(ram['dirty-sync-count']) < POSTCOPY_AFTER_ROUNDS) return progress
    await qmp.run('migrate-start-postcopy')
    return { ...progress, postcopy_status: 'postcopy-active' }
  })
}

/** After a failure: the last output of a QEMU that ended by itself. */
export async function finalizeTarget(
  machines: KvmMachines,
  instance: InstanceDict,
  info: string,
  success: boolean,
): Promise<string | undefined> {
  const process = await machines.find(instance.name)
  if (!success) return await dropReceived(machines, instance.name, process)
  if (!process) throw new HypervisorFailure(`Instance ${instance.name} is not running after its migration`)
  const { seed: _, ...runtime } = decodeRuntime(info)
  await machines.connectAnnouncingNics(instance, runtime)
  await machines.save(instance.name, runtime)
  await machines.qmp(instance.name, async (qmp) => {
    const status = await settledStatus(machines, qmp)
    if (status === 'inmigrate') throw new HypervisorFailure(`Instance ${instance.name} still waits for its memory`)
    // The guest of a non-live migration was stopped before it was sent.
    if (status === 'paused') await qmp.run('cont')
    await setCapabilities(qmp, new KvmParams(instance.hvparams), false)
  })
  return undefined
}

async function dropReceived(machines: KvmMachines, name: string, process: QemuProcess | undefined) {
  const words = process
    ? ''
    : await machines.context.files.readFile(machines.layout.logFile(name), 'utf8').catch(() => '')
  if (process) await machines.kill(process)
  else await machines.nics.release(name)
  await machines.layout.removeInstance(name)
  return words.trim() === '' ? undefined : endOf(words.trim(), TOLD_CHARS_MAX)
}

export async function finalizeSource(machines: KvmMachines, instance: InstanceDict, success: boolean): Promise<void> {
  const process = await machines.find(instance.name)
  if (!process || success) {
    if (process) await machines.kill(process)
    await machines.nics.release(instance.name)
    return await machines.layout.removeInstance(instance.name)
  }
  await machines.qmp(instance.name, async (qmp) => {
    await cancel(machines, qmp)
    if (['postmigrate', 'paused', 'finish-migrate'].includes(await qmp.status())) await qmp.run('cont')
    await setCapabilities(qmp, new KvmParams(instance.hvparams), false)
  })
}

/** Stops a running transfer, and waits until it has stopped. */
async function cancel(machines: KvmMachines, qmp: Qmp): Promise<void> {
  const moving = async () =>
    ['setup', 'active', 'pre-switchover', 'device', 'cancelling'].includes(
      String((await qmp.object('query-migrate'))['status']),
    )
  if (!(await moving())) return
  await qmp.run('migrate_cancel')
  const { clock } = machines.context
  const deadline = clock.monotonic_ms() + MIGRATION_SWITCH_S * 1000
  while (await moving()) {
    if (clock.monotonic_ms() >= deadline) throw new HypervisorFailure('The migration does not stop on request')
    await clock.sleep(20)
  }
}

/** The source reports completion a moment before the target has taken over. */
async function settledStatus(machines: KvmMachines, qmp: Qmp): Promise<string> {
  const { clock } = machines.context
  const deadline = clock.monotonic_ms() + MIGRATION_SWITCH_S * 1000
  for (;;) {
    const status = await qmp.status()
    if (status !== 'inmigrate' || clock.monotonic_ms() >= deadline) return status
    await clock.sleep(20)
  }
}

async function setCapabilities(qmp: Qmp, params: KvmParams, state: boolean): Promise<void> {
  const names = params
    .text('migration_caps')
    .split(':')
    .filter((name) => name !== '')
  for (const name of names) await setCapability(qmp, name, state)
}

async function setCapability(qmp: Qmp, capability: string, state = true): Promise<void> {
  await qmp.run('migrate-set-capabilities', { capabilities: [{ capability, state }] })
}
