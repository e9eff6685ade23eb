// Changes to the NICs of an existing instance.
import { pythonText } from '../../../lib/text/python-text'
import { change } from '../../../config/changes'
import type { Nic } from '../../../model/config'
import { MAX_NICS } from '../../../model/constants/params'
import { ECODE, OpPrereqError } from '../../../model/errors'
import type { NicParams as GivenNic } from '../../../opcodes/types'
import type { UnitContext } from '../../unit-context'
import { indexForNew, indexOfDevice, type DeviceChange } from '../parameters/device-changes'
import { plugNic, type HotplugAction } from '../parameters/hotplug'
import { checkNames } from '../disks/spec'
import { changedNic, type NicChange } from './changed-nic'
import { isNone } from './spec'
import type { Changed } from '../parameters/set-op'
import type { InstanceView } from '../view'

export interface NicStep {
  readonly action: HotplugAction
  readonly nic: Nic
  readonly index: number
  readonly newMac: boolean
  readonly changed: readonly Changed[]
  /** All NICs after this step. */
  readonly after: readonly Nic[]
  /** The name of the reported change for the result of hotplugging. */
  readonly plugged: string
}

type NicOptions = Pick<NicChange, 'conflictsCheck' | 'force'>

export interface NicPlan {
  readonly nics: readonly Nic[]
  readonly steps: readonly NicStep[]
}

/** Changes apply one after the other: an index refers to the list after the earlier changes. */
export async function planNics(
  ctx: UnitContext,
  view: InstanceView,
  changes: readonly DeviceChange<GivenNic>[],
  options: NicOptions,
): Promise<NicPlan> {
  const nics: Nic[] = [...view.instance.nics]
  const steps: NicStep[] = []
  for (const one of changes) {
    if (one.action === 'add') steps.push(await add(ctx, view, nics, one, options))
    else if (one.action === 'remove') steps.push(remove(nics, one))
    else if (one.action === 'modify') steps.push(await modify(ctx, view, nics, one, options))
    else
      throw new OpPrereqError(
        `${one.action === 'attach' ? 'Attach' : 'Detach'} operation is not supported for NICs`,
        ECODE.INVAL,
      )
  }
  if (nics.length > MAX_NICS)
    throw new OpPrereqError(`Instance has too many network interfaces (${MAX_NICS}), cannot add more`, ECODE.STATE)
  checkNames('NIC', nics)
  return { nics, steps }
}

async function add(
  ctx: UnitContext,
  view: InstanceView,
  nics: Nic[],
  { at, params }: DeviceChange<GivenNic>,
  options: NicOptions,
): Promise<NicStep> {
  const index = indexForNew('NIC', nics.length, at)
  const nic = await changedNic(ctx, view, { given: params, old: undefined, ...options })
  nics.splice(index, 0, nic)
  const { mode, link } = nic.nicparams
  const network = pythonText(shownNetwork(params))
  const text = `add:mac=${nic.mac},ip=${pythonText(nic.ip)},mode=${mode},link=${link},network=${network}`
  const plugged = `nic.${index}`
  return { action: 'hotadd', nic, index, newMac: true, changed: [[plugged, text]], after: [...nics], plugged }
}

function remove(nics: Nic[], { at }: DeviceChange<GivenNic>): NicStep {
  const { index, old } = existing(nics, at)
  nics.splice(index, 1)
  return {
    action: 'hotremove',
    nic: old,
    index,
    newMac: false,
    changed: [[`NIC/${index}`, 'remove']],
    after: [...nics],
    plugged: `NIC/${index}`,
  }
}

async function modify(
  ctx: UnitContext,
  view: InstanceView,
  nics: Nic[],
  { at, params }: DeviceChange<GivenNic>,
  options: NicOptions,
): Promise<NicStep> {
  const { index, old } = existing(nics, at)
  const nic = await changedNic(ctx, view, { given: params, old, ...options })
  nics[index] = nic
  const newMac = nic.mac !== old.mac
  const changed = changesOf(params, old, nic, index)
  return { action: 'hotmod', nic, index, newMac, changed, after: [...nics], plugged: `nic/${index}` }
}

function existing(nics: readonly Nic[], at: DeviceChange<GivenNic>['at']): { index: number; old: Nic } {
  const index = indexOfDevice('NIC', nics, at)
  const old = nics[index]
  if (old === undefined) throw new OpPrereqError(`Cannot find NIC with identifier ${at}`, ECODE.NOENT)
  return { index, old }
}

/** The network's name, as the user gave it. */
const shownNetwork = ({ network }: GivenNic): string | undefined =>
  network === undefined || isNone(network) ? undefined : network

/** The changes to report: all parameters, even unchanged ones. */
function changesOf(input: GivenNic, old: Nic, nic: Nic, index: number): Changed[] {
  const reported: Changed[] = []
  if (input.mac !== undefined || nic.mac !== old.mac) reported.push(['mac', nic.mac])
  if (input.ip !== undefined) reported.push(['ip', nic.ip ?? null])
  if (input.name !== undefined) reported.push(['name', nic.name ?? null])
  if (nic.network !== old.network) reported.push(['network', shownNetwork(input) ?? null])
  reported.push(...Object.entries(nic.nicparams).sort(([a], [b]) => (a < b ? -1 : 1)))
  return reported.map(([key, value]): Changed => [`nic.${key}/${index}`, value])
}

/** Plugs the steps one after the other. If the guest refuses one, the configuration gets only the earlier ones. */
export async function plugNics(ctx: UnitContext, view: InstanceView, steps: readonly NicStep[]): Promise<Changed[]> {
  const changed: Changed[] = []
  const { uuid } = view.instance
  for (const [at, { action, nic, index, changed: own, plugged }] of steps.entries()) {
    try {
      changed.push(...own, [plugged, await plugNic(ctx, view, action, nic, index)])
    } catch (error) {
      const done = steps[at - 1]
      if (done) await ctx.config.change([change('patchInstance', uuid, { nics: done.after })])
      throw error
    }
  }
  return changed
}
