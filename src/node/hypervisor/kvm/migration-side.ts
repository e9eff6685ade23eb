// What a machine's monitor says about its migration: which side it is, and whether its guest may go on here. Everything
// that resumes or ends a QEMU of a migration asks this first. Nobody may rely on what an earlier call has answered.
import { isObject } from '../../../lib/shapes/shape'
import { QMP_LOOK_S } from '../../../model/limits/hypervisor'
import { isList, type Qmp } from './qmp'

/**
 * `none`: nothing was begun. `before`: the source has the guest, so a cancel is safe. `after`: the guest runs on the
 * target, which still fetches memory from the source. `done`: the target has it all. `ended`: it has failed, or was
 * cancelled.
 */
type Phase = 'none' | 'before' | 'after' | 'done' | 'ended'

/** Every value of QEMU's MigrationStatus, and the word for it in a node's answer; the first five words are Ganeti's. */
const STATES: Readonly<Record<string, readonly [Phase, string]>> = {
  none: ['none', 'failed'],
  setup: ['before', 'active'],
  'wait-unplug': ['before', 'active'],
  active: ['before', 'active'],
  'pre-switchover': ['before', 'active'],
  device: ['before', 'active'],
  cancelling: ['before', 'cancelled'],
  failing: ['before', 'active'],
  'postcopy-device': ['after', 'postcopy-active'],
  'postcopy-active': ['after', 'postcopy-active'],
  'postcopy-paused': ['after', 'postcopy-paused'],
  'postcopy-recover-setup': ['after', 'postcopy-recover'],
  'postcopy-recover': ['after', 'postcopy-recover'],
  colo: ['after', 'colo'],
  completed: ['done', 'completed'],
  cancelled: ['ended', 'cancelled'],
  failed: ['ended', 'failed'],
}
/** A state of a later QEMU. Nothing may be resumed or ended for it. */
const UNKNOWN = ['after', 'postcopy-active'] as const

/** The capability to switch to post-copy. */
export const POSTCOPY = 'postcopy-ram'

/** The machine does not run, and a migration may have stopped it. */
const STOPPED: readonly string[] = ['postmigrate', 'finish-migrate', 'paused']

export interface MigrationSide {
  readonly phase: Phase
  /** As a node answers it. */
  readonly status: string
  /** As QEMU calls it. */
  readonly state: string
  /** The machine's run state. */
  readonly machine: string
  /** Whether this machine sends: only a source has figures about memory. */
  readonly ram: Readonly<Record<string, unknown>> | undefined
  /** The source can switch to post-copy. */
  readonly canSwitch: boolean
  /** The guest runs, or may run, on the target with memory that is newer than this source's. */
  readonly switched: boolean
}

export async function migrationSide(qmp: Qmp): Promise<MigrationSide> {
  const answer = await qmp.object('query-migrate', undefined, QMP_LOOK_S)
  const machine = await qmp.status(QMP_LOOK_S)
  const capabilities = enabled(await qmp.run('query-migrate-capabilities', undefined, QMP_LOOK_S))
  const state = typeof answer['status'] === 'string' ? answer['status'] : 'none'
  const [phase, status] = STATES[state] ?? UNKNOWN
  const ram = isObject(answer['ram']) ? answer['ram'] : undefined
  const canSwitch = capabilities.has(POSTCOPY)
  const side = { phase, status, state, machine, ram, canSwitch }
  return { ...side, switched: hasSwitched(side, canSwitch || capabilities.has('return-path')) }
}

/** With a return path, a source is done only when its target has said that it took over. */
function hasSwitched(
  { phase, machine, ram, canSwitch }: Omit<MigrationSide, 'switched'>,
  isConfirmed: boolean,
): boolean {
  if (!STOPPED.includes(machine)) return false
  switch (phase) {
    case 'none':
    case 'before':
      return false
    case 'after':
      return true
    case 'done':
      return ram !== undefined && isConfirmed
    case 'ended':
      // QEMU itself resumes a guest whose memory it was still copying. One that post-copy has stopped stays so.
      return canSwitch && machine !== 'paused'
  }
}

function enabled(answer: unknown): Set<string> {
  const all = isList(answer) ? answer.filter(isObject) : []
  return new Set(all.flatMap(({ capability, state }) => (state === true ? [String(capability)] : [])))
}
