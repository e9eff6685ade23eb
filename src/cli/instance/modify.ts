// gnt-instance modify and rename.
import { OpInstanceRename, OpInstanceSetParams } from '../../opcodes/instance'
import type { Call } from '../command'
import { CommandFailure, EXIT, refusal } from '../outcome'
import type { IdentKeyValues, KeyValues } from '../input/option-values'
import { backendParams, DEFAULT, diskValues, enteredParams, hypervisorParams } from '../input/params'
import { firstArgument, opcodeOf, printChanges } from '../submit/submit'

export const NOTHING_GIVEN = 'Please give at least one of the parameters.'

/** Parameters that say how to change something, not what. */
const MANNER: readonly string[] = ['force_variant', 'wait_for_sync', 'ignore_ipolicy', 'conflicts_check', 'hotplug']

export async function modifyInstance(call: Call): Promise<number> {
  const instance_name = firstArgument(call)
  const changes = changesOf(call)
  if (Object.entries(changes).every(([name, value]) => value === undefined || MANNER.includes(name)))
    throw new CommandFailure(NOTHING_GIVEN)
  const force = call.options.flag('force')
  const result = await call.jobs.run(opcodeOf(OpInstanceSetParams, { instance_name, force, ...changes }))
  printChanges(call, 'instance', instance_name, result)
  const later = effectiveLater(result)
  if (later.length > 0)
    call.terminal.out(
      `When Ganeti next starts or reboots the instance (a restart from inside is not enough), these take effect: ${later.join(', ')}`,
    )
  return EXIT.ok
}

/** Parameters that do not concern a running guest. */
const OUTSIDE: readonly string[] = ['be/always_failover', 'be/auto_balance', 'be/spindle_use']

/** The changes in a job's result that a running instance gets only at its next start. */
function effectiveLater(result: unknown): string[] {
  const changes = (Array.isArray(result) ? (result as unknown[]) : []).flatMap((change): [string, unknown][] =>
    Array.isArray(change) ? [[String(change[0]), change[1]]] : [],
  )
  const plugged = changes.flatMap(([name, value]) => (value === 'hotplug:done' ? [name] : []))
  const waits = changes.flatMap(([name]) => {
    const [, kind, part, at] = /^(nic|disk)(?:\.([^/]*))?\/(\d+)$/.exec(name) ?? []
    if (kind !== undefined) return part === 'name' || plugged.includes(`${kind}/${at}`) ? [] : [name]
    return /^(be|hv)\//.test(name) && !OUTSIDE.includes(name) ? [name] : []
  })
  return [...new Set(waits)]
}

function changesOf({ options }: Call) {
  const online = options.flag('online_inst')
  const offline = options.flag('offline_inst')
  if (online && offline) throw new CommandFailure('Only one of --offline and --online can be given')
  const beparams = backendParams(options.keyValues('beparams'), DEFAULT)
  const hvparams = hypervisorParams(options.keyValues('hvparams'), undefined, DEFAULT)
  const disks = modifications(options.idents('disks'), (values, label) => diskValues(values, label))
  const nics = modifications(options.idents('nics'), (values) => values)
  return {
    ...options.parametersOf(OpInstanceSetParams),
    beparams: nonEmpty(beparams),
    hvparams: nonEmpty(hvparams),
    disks: disks.length === 0 ? undefined : disks,
    nics: nics.length === 0 ? undefined : nics,
    remote_node: options.text('node'),
    pnode: options.text('new_primary_node'),
    os_name: options.text('os'),
    offline: online ? false : offline || undefined,
  }
}

const nonEmpty = <T extends object>(values: T): T | undefined => (Object.keys(values).length === 0 ? undefined : values)

type Modification = readonly [action: string, device: string | number, params: object]

const ACTIONS: readonly string[] = ['add', 'attach', 'detach', 'remove', 'modify']

/** `add:size=1g` appends; `0:add,size=1g` inserts; `0:remove`; `0:mode=ro` modifies. */
function modifications(
  options: readonly IdentKeyValues[],
  paramsOf: (values: KeyValues, label: string) => object,
): Modification[] {
  return options.map(([ident, written]) => {
    const label = `device ${ident}`
    const values = enteredParams(written, label)
    if (ACTIONS.includes(ident) && ident !== 'modify')
      return [ident, -1, paramsOf(checked(ident, values, label), label)]
    const requested = ACTIONS.filter((action) => values[action] === true)
    if (requested.length > 1) throw refusal(`Cannot ${requested.join(' and ')} ${label} at the same time`)
    const params = Object.fromEntries(Object.entries(values).filter(([name]) => !requested.includes(name)))
    const action = requested[0] ?? 'modify'
    return [action, /^-?\d+$/.test(ident) ? Number(ident) : ident, paramsOf(checked(action, params, label), label)]
  })
}

function checked(action: string, params: KeyValues, label: string): KeyValues {
  if ((action === 'remove' || action === 'detach') && Object.keys(params).length > 0)
    throw refusal(`Not accepting parameters on removal/detach of ${label}: ${Object.keys(params).join(', ')}`)
  return params
}

export async function renameInstance(call: Call): Promise<number> {
  const [instance_name = '', new_name = ''] = call.args
  const result = await call.jobs.run(
    opcodeOf(OpInstanceRename, { ...call.options.parametersOf(OpInstanceRename), instance_name, new_name }),
  )
  if (typeof result === 'string') call.terminal.out(`Instance '${instance_name}' renamed to '${result}'`)
  return EXIT.ok
}
