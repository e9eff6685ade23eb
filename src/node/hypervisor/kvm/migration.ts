// Live migration between two nodes' QEMU processes. The target starts first, with the source's runtime data, and waits
// on its own address. The source sends. Then each side is told how it ended.
import { readEnd } from '../../../lib/file/read-bounded'
import { endOf } from '../../../lib/text/short-text'
import { HypervisorFailure } from '../hypervisor'
import { lossRemarks } from './command'
import { accelerator, missesWrites, qemuFacts } from './host'
import type { InstanceDict, MigrationSideStatus } from '../../../rpc/node/dicts'
import type { KvmMachines } from './machines'
import { KvmParams } from './params'
import type { QemuProcess } from './process'
import { migrationSide, POSTCOPY, type MigrationSide } from './migration-side'
import { closeRelay, openRelay } from './migration-tls'
import { LostMonitor, type Qmp } from './qmp'
import { decodeRuntime, encodeRuntime } from './runtime'
import { packedSeed, unpackedSeed, writeSeed } from './cloud-init-seed'
import { asItRuns, checkSameMachine, runningMachine } from './same-machine'
import { MIGRATION_SWITCH_S, POSTCOPY_SWITCH_S, QEMU_LOG_BYTES_TOLD } from '../../../model/limits/hypervisor'
import { TOLD_CHARS_MAX } from '../../../model/limits/node'

const MIB = 1 << 20
/** Copy rounds after which a guest with postcopy is switched. */
const POSTCOPY_AFTER_ROUNDS = 2
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
  secure = false,
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
  const incoming = { address: target, port: params.number('migration_port'), deferred: secure }
  const remarks = await machines.launch(instance, runtime, { incoming })
  await machines.qmp(instance.name, async (qmp) => {
    await setCapabilities(qmp, params, true)
    if (!secure) return await closeRelay(machines, instance.name)
    const uri = await openRelay(machines, instance.name, 'target', target, incoming.port)
    await qmp.run('migrate-incoming', { uri })
  })
  const qemu = await qemuFacts(machines.context, params.text('kvm_path'))
  const isMissing = missesWrites(await accelerator(machines.context.files, params), qemu)
  return [...(isMissing ? lossRemarks(runtime.command) : []), ...remarks]
}

export async function migrate(
  machines: KvmMachines,
  instance: InstanceDict,
  target: string,
  live: boolean,
  secure = false,
): Promise<void> {
  const params = new KvmParams(instance.hvparams)
  await machines.running(instance.name, 'Instance not running, cannot migrate')
  await machines.qmp(instance.name, async (qmp) => {
    if (!live) await qmp.run('stop')
    await qmp.run('migrate-set-parameters', {
      'max-bandwidth': params.number('migration_bandwidth') * MIB,
      'downtime-limit': params.number('migration_downtime'),
    })
    // A guest that stands still gains nothing from a switch.
    await setCapabilities(qmp, params, true, (name) => live || name !== POSTCOPY)
    // Without it the source is done when everything is sent, even if the target then fails to load it.
    await setCapability(qmp, 'return-path')
    await closeRelay(machines, instance.name)
    const uri = secure
      ? await openRelay(machines, instance.name, 'source', target, params.number('migration_port'))
      : migrationUri(target, params)
    await qmp.run('migrate', { uri })
  })
}

export const migrationUri = (target: string, params: KvmParams): string =>
  `tcp:${target.includes(':') ? `[${target}]` : target}:${params.number('migration_port')}`

export async function migrationStatus(machines: KvmMachines, instance: InstanceDict): Promise<MigrationSideStatus> {
  return await machines.qmp(instance.name, async (qmp) => {
    const side = await settledSide(machines, qmp)
    const { status, ram, switched } = side
    if (!ram) return { status, ...(switched && { switched }) }
    const progress = {
      ...{ status, transferred_ram: Number(ram['transferred']), total_ram: Number(ram['total']) },
      ...(switched && { switched }),
    }
    if (!side.canSwitch || side.state !== 'active' || !mayBeSwitching(side)) return progress
    await qmp.run('migrate-start-postcopy')
    return { ...progress, postcopy_status: 'postcopy-active' }
  })
}

const mayBeSwitching = ({ canSwitch, ram }: MigrationSide): boolean =>
  canSwitch && Number(ram?.['dirty-sync-count']) >= POSTCOPY_AFTER_ROUNDS

/** After a failure: the last output of a QEMU that ended by itself. */
export async function finalizeTarget(
  machines: KvmMachines,
  instance: InstanceDict,
  info: string,
  success: boolean,
): Promise<string | undefined> {
  const process = await machines.find(instance.name)
  if (!success) {
    if (process) await machines.qmp(instance.name, checkHasNoGuest(instance.name))
    return await dropReceived(machines, instance.name, process)
  }
  if (!process) throw new HypervisorFailure(`Instance ${instance.name} is not running after its migration`)
  const { seed: _, ...runtime } = decodeRuntime(info)
  await machines.connectAnnouncingNics(instance, runtime)
  await machines.save(instance.name, runtime)
  await machines.qmp(instance.name, async (qmp) => {
    const status = await settledStatus(machines, qmp)
    if (status === 'inmigrate' || (await migrationSide(qmp)).phase === 'after')
      throw new HypervisorFailure(`Instance ${instance.name} still waits for its memory`)
    // The guest of a non-live migration was stopped before it was sent.
    if (status === 'paused') await qmp.run('cont')
    await setCapabilities(qmp, new KvmParams(instance.hvparams), false)
  })
  await closeRelay(machines, instance.name)
  return undefined
}

async function dropReceived(machines: KvmMachines, name: string, process: QemuProcess | undefined) {
  const words = process
    ? ''
    : await readEnd(machines.context.files, machines.layout.logFile(name), QEMU_LOG_BYTES_TOLD).catch(() => '')
  if (process) await machines.kill(process)
  else await machines.nics.release(name)
  await closeRelay(machines, name)
  await machines.layout.removeInstance(name)
  return words.trim() === '' ? undefined : endOf(words.trim(), TOLD_CHARS_MAX)
}

/** A target with the guest, or with the only current part of its memory, is never dropped. */
const checkHasNoGuest = (name: string) => async (qmp: Qmp) => {
  const { machine, state } = await migrationSide(qmp)
  if (machine === 'inmigrate') return
  throw new HypervisorFailure(
    `Instance ${name} is not dropped here, since its guest has arrived: QEMU says ${machine}, its migration ${state}; ${wayOut(name)}`,
  )
}

export async function finalizeSource(machines: KvmMachines, instance: InstanceDict, success: boolean): Promise<void> {
  const { name } = instance
  const process = await machines.find(name)
  if (process && !success) return await machines.qmp(name, (qmp) => goOnHere(machines, instance, qmp))
  if (process) {
    await machines.qmp(name, checkHasLeft(name)).catch(async (error: unknown) => {
      // It may have ended meanwhile.
      if (!(error instanceof LostMonitor) || (await machines.find(name))) throw error
    })
    await machines.kill(process)
  }
  await machines.nics.release(name)
  await closeRelay(machines, name)
  await machines.layout.removeInstance(name)
}

/** Also a caller that takes a switch to post-copy for the end must not end the source, which has memory to send. */
const checkHasLeft = (name: string) => async (qmp: Qmp) => {
  const { phase, machine, state } = await migrationSide(qmp)
  if (phase === 'done' && machine !== 'running') return
  throw new HypervisorFailure(
    `Instance ${name} is not ended here, since its migration is not complete: QEMU says ${machine}, its migration ${state}; ${wayOut(name)}`,
  )
}

async function goOnHere(machines: KvmMachines, instance: InstanceDict, qmp: Qmp): Promise<void> {
  const { name } = instance
  await cancel(machines, qmp)
  const { switched, machine, state } = await settledSide(machines, qmp)
  if (switched) throw new HypervisorFailure(handedOver(name, machine, state))
  if (['postmigrate', 'paused', 'finish-migrate'].includes(machine)) await qmp.run('cont')
  await setCapabilities(qmp, new KvmParams(instance.hvparams), false)
  await closeRelay(machines, name)
}

export const handedOver = (name: string, machine: string, state: string): string =>
  `Instance ${name} does not go on here, since its guest runs, or may run, on the target of its migration with newer memory: ` +
  `QEMU says ${machine}, its migration ${state}; ${wayOut(name)}`

export const wayOut = (name: string): string => `"gnt-instance migrate --cleanup ${name}" decides`

/** Stops a running transfer, and waits until it has stopped. A cancel after the switch to post-copy would lose the guest. */
async function cancel(machines: KvmMachines, qmp: Qmp): Promise<void> {
  let side = await migrationSide(qmp)
  // A switch that was asked for takes a moment.
  if (mayBeSwitching(side)) side = await leavesBefore(machines, qmp, POSTCOPY_SWITCH_S)
  if (side.phase !== 'before') return
  if (side.state !== 'cancelling') await qmp.run('migrate_cancel')
  side = await leavesBefore(machines, qmp, MIGRATION_SWITCH_S)
  if (side.phase === 'before') throw new HypervisorFailure('The migration does not stop on request')
}

/** QEMU says that a migration has failed a moment before it resumes the guest. */
const settledSide = (machines: KvmMachines, qmp: Qmp) =>
  sideThat(machines, qmp, POSTCOPY_SWITCH_S, ({ phase, switched }) => !(phase === 'ended' && switched))

const leavesBefore = (machines: KvmMachines, qmp: Qmp, limit_s: number) =>
  sideThat(machines, qmp, limit_s, ({ phase }) => phase !== 'before')

/** The last one seen, if none is as wanted in time. */
export async function sideThat(
  { context: { clock } }: KvmMachines,
  qmp: Qmp,
  limit_s: number,
  isWanted: (side: MigrationSide) => boolean,
): Promise<MigrationSide> {
  const deadline = clock.monotonic_ms() + limit_s * 1000
  for (;;) {
    const side = await migrationSide(qmp)
    if (isWanted(side) || clock.monotonic_ms() >= deadline) return side
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

async function setCapabilities(
  qmp: Qmp,
  params: KvmParams,
  state: boolean,
  desired: (name: string) => boolean = () => true,
): Promise<void> {
  const names = params
    .text('migration_caps')
    .split(':')
    .filter((name) => name !== '')
  for (const name of names.filter(desired)) await setCapability(qmp, name, state)
}

async function setCapability(qmp: Qmp, capability: string, state = true): Promise<void> {
  await qmp.run('migrate-set-capabilities', { capabilities: [{ capability, state }] })
}
