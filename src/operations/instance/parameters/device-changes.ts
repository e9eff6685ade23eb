// Changes to a list of devices in an opcode's three forms: by index, name or uuid.
import { ECODE, OpExecError, OpPrereqError } from '../../../model/errors'
import type { Identifier, Modification } from '../../../opcodes/types'

export type DeviceAction = 'add' | 'modify' | 'remove' | 'attach' | 'detach'

export interface DeviceChange<T> {
  readonly action: DeviceAction
  readonly at: Identifier
  readonly params: T
}

const LAST = -1

/** The two old forms: `[action, parameters]` for the last device, and `[index, parameters]` to modify one. */
export function deviceChanges<T extends object>(kind: string, input: readonly Modification<T>[]): DeviceChange<T>[] {
  const old = input.filter((one) => one.length === 2 && typeof one[0] === 'string')
  if (old.length > 1)
    throw new OpPrereqError(`Only one ${kind} add/attach/remove/detach operation is supported at a time`, ECODE.INVAL)
  const changes = input.map((one): DeviceChange<T> => {
    if (one.length === 3) return { action: actionOf(one[0]), at: one[1], params: one[2] }
    const [what, params] = one
    return typeof what === 'number'
      ? { action: 'modify', at: what, params }
      : { action: actionOf(what), at: LAST, params }
  })
  for (const { action, params } of changes)
    if ((action === 'remove' || action === 'detach') && Object.keys(params).length > 0)
      throw new OpPrereqError(`No settings should be passed when removing or detaching a ${kind}`, ECODE.INVAL)
  return changes
}

function actionOf(text: string): DeviceAction {
  const known = (['add', 'modify', 'remove', 'attach', 'detach'] as const).find((action) => action === text)
  if (known === undefined) throw new OpPrereqError(`Unknown device action '${text}'`, ECODE.INVAL)
  return known
}

interface Device {
  readonly uuid: string
  readonly name?: string
}

/** The index of an existing device. */
export function indexOfDevice(kind: string, devices: readonly Device[], at: Identifier): number {
  const index = typeof at === 'number' || /^-?\d+$/.test(at) ? Number(at) : undefined
  if (index === undefined) {
    const found = devices.findIndex((device) => device.uuid === at || device.name === at)
    if (found < 0) throw new OpPrereqError(`Cannot find ${kind} with identifier ${at}`, ECODE.NOENT)
    return found
  }
  if (index < LAST) throw new OpPrereqError('Not accepting negative indices other than -1', ECODE.INVAL)
  const place = index === LAST ? devices.length - 1 : index
  if (place < 0 || place >= devices.length)
    throw new OpExecError(`Got ${kind} index ${index}, but there are only ${devices.length}`)
  return place
}

/** The index for a new device. */
export function indexForNew(kind: string, count: number, at: Identifier, action = 'add'): number {
  const index = Number(at)
  if (!Number.isInteger(index))
    throw new OpPrereqError(
      `Only positive integer or -1 is accepted as identifier for '${action}' of a ${kind}`,
      ECODE.INVAL,
    )
  const place = index === LAST ? count : index
  if (place < 0 || place > count) throw new OpExecError(`Got ${kind} index ${index}, but there are only ${count}`)
  return place
}
