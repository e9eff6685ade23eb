// The two sides of a migration have lost each other after the switch to post-copy. QEMU keeps both, and connects them again.
import type { InstanceDict, MigrationSideName } from '../../../rpc/node/dicts'
import { MIGRATION_SWITCH_S, QMP_LOOK_S } from '../../../model/limits/hypervisor'
import { HypervisorFailure } from '../hypervisor'
import type { KvmMachines } from './machines'
import { migrationUri, sideThat } from './migration'
import { hasRelay, openRelay } from './migration-tls'
import { migrationSide } from './migration-side'
import { KvmParams } from './params'
import { QmpError, withQmp, type Qmp } from './qmp'

export async function recoverMigration(
  machines: KvmMachines,
  instance: InstanceDict,
  target: string,
  side: MigrationSideName,
): Promise<void> {
  const { name } = instance
  await machines.running(name, `Instance ${name} is not on this node`)
  const params = new KvmParams(instance.hvparams)
  const isSecure = await hasRelay(machines, name)
  const open = async () =>
    isSecure ? openRelay(machines, name, side, target, params.number('migration_port')) : migrationUri(target, params)
  if (side === 'source') return await machines.qmp(name, (qmp) => callAgain(machines, qmp, open))
  const task = (qmp: Qmp) => listenAgain(machines, qmp, open)
  await withQmp(machines.layout.socket(name, 'qmp'), machines.context.clock, task, { outOfBand: true })
}

type Open = () => Promise<string>

/** The target's main thread may wait for a page of the guest's memory, so it is not asked. */
async function listenAgain({ context: { clock } }: KvmMachines, qmp: Qmp, open: Open): Promise<void> {
  // Without an answer of the network, this side does not notice that the other one is gone.
  await qmp.runOutOfBand('migrate-pause').catch(ignoreRefusal)
  const uri = await open()
  const deadline = clock.monotonic_ms() + MIGRATION_SWITCH_S * 1000
  for (;;) {
    try {
      return void (await qmp.runOutOfBand('migrate-recover', { uri }, QMP_LOOK_S))
    } catch (error) {
      // It needs a moment to pause.
      if (!(error instanceof QmpError) || clock.monotonic_ms() >= deadline) throw error
    }
    await clock.sleep(100)
  }
}

async function callAgain(machines: KvmMachines, qmp: Qmp, open: Open): Promise<void> {
  const { phase, state } = await migrationSide(qmp)
  if (phase !== 'after') throw new HypervisorFailure(`There is no migration to go on with: QEMU says ${state}`)
  if (state === 'postcopy-active') await qmp.run('migrate-pause').catch(ignoreRefusal)
  const now = await sideThat(machines, qmp, MIGRATION_SWITCH_S, (side) => side.state !== 'postcopy-active')
  if (now.state === 'postcopy-paused') await qmp.run('migrate', { uri: await open(), resume: true })
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof QmpError)) throw error
}
