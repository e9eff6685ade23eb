// Query fields of instances that nodes answer.
import { consoleOn } from '../../config/rpc-dicts'
import { isGuestElsewhere } from '../../model/guest-state'
import type { Instance } from '../../model/instance'
import type { InstanceStatus } from '../../model/constants/words'
import type { Cell } from '../../rpc/luxi/calls'
import type { NodeResult } from '../../rpc/node/client'
import type { ConsoleInfo, InstanceRuntime } from '../../rpc/node/dicts'
import type { ConfigIndex } from '../config-index'
import type { Heard } from '../source'
import { type FieldTable, NO_DATA, OFFLINE, UNAVAILABLE, cell, field, heardCell, PARAMETERS } from '../field'

/**
 * The state of an instance according to its nodes: the primary is offline, did not answer, or was not heard yet by a
 * master that does not ask it now; or the instance was seen or not.
 */
export type Runtime =
  | { readonly state: 'offline' | 'no answer' | 'not heard' | 'absent' }
  | { readonly state: 'seen'; readonly info: InstanceRuntime; readonly onPrimary: boolean }

export interface InstanceRow {
  readonly instance: Instance
  readonly index: ConfigIndex
  readonly heard?: Heard | undefined
  runtime?: Runtime
  /** The primary node's answer for all its instances. */
  consoles?: NodeResult<Record<string, ConsoleInfo>>
}

const LIVE = { needs: 'live' } as const
const KEPT = { ...LIVE, kept: true } as const
const SHUT_DOWN = 1

export const instanceLiveFields: FieldTable<InstanceRow> = {
  console: field('Console', 'other', 'Instance console information', consoleCell, {
    shape: PARAMETERS,
    needs: 'console',
  }),
  machine_state: field(
    'Machine_state',
    'text',
    'State of a machine that exists but does not run, as QEMU names it: `paused`, `suspended`, `io-error`. Empty when it runs',
    (row) => seenCell(row, (info) => info.machine_state ?? ''),
    { ...KEPT, ours: true },
  ),
  oper_ram: field(
    'Memory',
    'unit',
    'Actual memory usage as seen by hypervisor',
    (row) => seenCell(row, (info) => info.memory),
    KEPT,
  ),
  oper_state: field('Running', 'bool', 'Actual state of instance', (row) => knownCell(row, isRunning), KEPT),
  oper_vcpus: field(
    'VCPUs',
    'number',
    'Actual number of VCPUs as seen by hypervisor',
    (row) => seenCell(row, (info) => info.vcpus),
    KEPT,
  ),
  status: field(
    'Status',
    'text',
    'Instance status; "running" if instance is set to be running and actually is, "ADMIN_down" if instance is stopped and is not running, "ERROR_wrongnode" if instance running, but not on its designated primary node, "ERROR_up" if instance should be stopped, but is actually running, "ERROR_down" if instance should run, but doesn\'t, "ERROR_nodedown" if instance\'s primary node is down, "ERROR_nodeoffline" if instance\'s primary node is marked offline, "ADMIN_offline" if instance is offline and does not use dynamic resources',
    (row) => (row.runtime?.state === 'not heard' ? NO_DATA : cell(instanceStatus(row))),
    KEPT,
  ),
  status_seen: field(
    'Status_seen',
    'timestamp',
    'When the primary node last reported what runs on it: the age of `status` and of the `oper_` fields. Null as long as it did not',
    ({ instance, heard: received }) => heardCell(received?.runningSeen_ms(instance.primary_node)),
    { ours: true },
  ),
  user_nics: field(
    'User_mode_NICs',
    'other',
    "Indexes of the NICs that have QEMU's user-mode network, because the node may not connect them, or lacks their bridge, switch or link",
    (row) => seenCell(row, (info) => info.user_nics ?? []),
    { shape: 'number[]', ...LIVE, ours: true },
  ),
}

function consoleCell({ instance, index, consoles }: InstanceRow): Cell {
  const primary = index.primaryOf(instance)
  if (primary?.offline) return OFFLINE
  if (consoles?.ok !== true) return NO_DATA
  const info = consoles.payload[instance.name]
  return info === undefined ? UNAVAILABLE : cell(consoleOn(primary, instance, info))
}

/** A cell that depends on the primary's answer, whether or not the instance runs. */
function knownCell({ runtime }: InstanceRow, get: (runtime: Runtime) => unknown): Cell {
  if (runtime === undefined || runtime.state === 'no answer' || runtime.state === 'not heard') return NO_DATA
  return runtime.state === 'offline' ? OFFLINE : cell(get(runtime))
}

function seenCell(row: InstanceRow, get: (info: InstanceRuntime) => unknown): Cell {
  if (row.runtime?.state === 'absent') return UNAVAILABLE
  return knownCell(row, (runtime) => (runtime.state === 'seen' ? get(runtime.info) : null))
}

const isRunning = (runtime: Runtime): boolean =>
  runtime.state === 'seen' && runtime.info.state !== SHUT_DOWN && !isGuestElsewhere(runtime.info)

/** Ganeti's combined state (constants.json, status_rules). */
function instanceStatus({ instance, index, runtime }: InstanceRow): InstanceStatus {
  if (runtime?.state === 'offline') return 'ERROR_nodeoffline'
  if (runtime === undefined || runtime.state === 'no answer' || runtime.state === 'not heard') return 'ERROR_nodedown'
  if (runtime.state === 'seen' && !runtime.onPrimary) return 'ERROR_wrongnode'
  if (isRunning(runtime)) return instance.admin_state === 'up' ? 'running' : 'ERROR_up'
  switch (instance.admin_state) {
    case 'up':
      return runtime.state === 'seen' && runtime.info.state === SHUT_DOWN && mayShutDown(instance, index)
        ? 'USER_down'
        : 'ERROR_down'
    case 'down':
      return instance.admin_state_source === 'user' ? 'USER_down' : 'ADMIN_down'
    case 'offline':
      return 'ADMIN_offline'
  }
}

/** The cluster allows users to shut down from inside; KVM also needs the instance's own parameter. */
function mayShutDown(instance: Instance, index: ConfigIndex): boolean {
  if (!index.config.cluster.enabled_user_shutdown) return false
  return instance.hypervisor !== 'kvm' || index.hvParams(instance)['user_shutdown'] === true
}
