// Notes a modification in its job, even if it is refused: the changes in the newer notation, and the chosen values.
import { pythonRepr } from '../../../lib/text/python-text'
import { diskTemplateOf } from '../../../config/lookup'
import { DEFAULT_FILE_DRIVER } from '../../../model/constants/disks'
import { VALUE } from '../../../model/constants/words'
import { OpPrereqError } from '../../../model/errors'
import type { DiskParams, Identifier, NicParams } from '../../../opcodes/types'
import type { UnitContext } from '../../unit-context'
import { deviceChanges, type DeviceChange } from './device-changes'
import { isNone } from '../nics/spec'
import type { DiskStep } from '../disks/changes'
import type { NicPlan, NicStep } from '../nics/changes'
import type { SetOp } from './set-op'
import type { InstanceView } from '../view'
import { factsOf, isFileBased } from '../../../model/templates'

type NicChanges = readonly DeviceChange<NicParams>[]
type DiskChanges = readonly DeviceChange<DiskParams>[]

/** Runs before any lock is held. */
export function noteGiven(ctx: UnitContext, op: SetOp, nics: NicChanges): void {
  ctx.note({
    nics: nics.map(({ action, at, params }) => {
      const displayed = withoutNone(params, ['name', 'network', 'ip'])
      return [action, at, action === 'add' ? { mac: VALUE.auto, ...displayed } : displayed]
    }),
    disks: deviceChanges('disk', op.disks).map(({ action, at, params }) => [action, at, params]),
    ...(op.disk_template !== undefined &&
      isFileBased(op.disk_template) && { file_driver: op.file_driver ?? DEFAULT_FILE_DRIVER }),
  })
}

/** Disks are shown by number. */
export function noteDisks(ctx: UnitContext, view: InstanceView, disks: DiskChanges): void {
  const dev_type = diskTemplateOf(view.config, view.instance)
  ctx.note({
    disks: disks.map(({ action, at, params }) => {
      const displayed = withoutNone(params, ['name'])
      return [action, placeOf(view, at), action === 'add' ? newDisk(displayed, 'rw', dev_type) : displayed]
    }),
  })
}

function placeOf({ disks }: InstanceView, at: Identifier): number {
  if (Number.isInteger(Number(at))) return Number(at)
  const found = disks.findIndex((disk) => disk.uuid === at || disk.name === at)
  if (found < 0) throw new OpPrereqError(`Lookup of disk ${pythonRepr(at)} failed`)
  return found
}

/** Notes the values of new devices. */
export function noteDevices(
  ctx: UnitContext,
  op: SetOp,
  view: InstanceView,
  nics: { readonly given: NicChanges; readonly plan: NicPlan },
  disks: { readonly given: DiskChanges; readonly steps: readonly DiskStep[] },
): void {
  ctx.note({
    nics: nics.given.map(({ action, at, params }, place) => [
      action,
      at,
      settledNic(withoutNone(params, ['name', 'network', 'ip']), nics.plan.steps[place]),
    ]),
    disks: disks.given.map(({ action, at, params }, place) => {
      const displayed = withoutNone(params, ['name'])
      const disk = disks.steps[place]?.disk
      if (disk === undefined) return [action, placeOf(view, at), displayed]
      const { size, mode, dev_type } = disk
      const more = action === 'attach' && factsOf(dev_type).namedAfterInstance === true ? { size, mode } : {}
      return [
        action,
        placeOf(view, at),
        action === 'add' ? newDisk(displayed, mode, dev_type) : { ...displayed, ...more },
      ]
    }),
    ...(disks.steps.some(
      ({ action, disk }) => (action === 'add' || action === 'attach') && isFileBased(disk.dev_type),
    ) && {
      file_driver: op.file_driver ?? DEFAULT_FILE_DRIVER,
    }),
  })
}

function newDisk({ size, mode, ...others }: DiskParams, standard: string, dev_type: string) {
  return { ...(size !== undefined && { size }), mode: mode ?? standard, ...others, dev_type }
}

/** Shows the resulting address instead of a word such as `auto`. */
function settledNic(displayed: NicParams, step: NicStep | undefined): NicParams {
  if (step === undefined || step.action === 'hotremove') return displayed
  const { mac, ip } = step.nic
  const words: readonly unknown[] = [undefined, VALUE.auto, VALUE.generate]
  const reported = step.newMac && words.includes(displayed.mac) ? { mac } : {}
  return {
    ...reported,
    ...displayed,
    ...reported,
    ...(displayed.ip?.toLowerCase() === 'pool' && ip !== undefined && { ip }),
  }
}

/** `none` removes a value. */
function withoutNone<T extends object>(params: T, names: readonly string[]): T {
  const entries = Object.entries(params).filter(
    ([name, value]) => !(names.includes(name) && typeof value === 'string' && isNone(value)),
  )
  // Parameters are all optional.
  return Object.fromEntries(entries) as T
}
