// Changes to the NICs of an existing instance.
import { fillNicParams } from '../../config/filled'
import { nicDict } from '../../config/rpc-dicts'
import type { Nic } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import type { NicParams as GivenNic } from '../../opcodes/types'
import type { UnitContext } from '../unit-context'
import { pythonText } from '../hooks'
import { indexForNew, indexOfDevice, type DeviceChange } from './device-changes'
import { hotplug, type HotplugAction } from './hotplug'
import { checkNames } from './disk-spec'
import { settleNic, wantedNic } from './nic-spec'
import type { Changed } from './set-values'
import type { InstanceView } from './view'

export interface NicStep {
  readonly action: HotplugAction
  readonly nic: Nic
  readonly index: number
  readonly changed: readonly Changed[]
  /** Under which name it is told how hotplugging went. */
  readonly plugged: string
}

export interface NicPlan {
  readonly nics: readonly Nic[]
  readonly steps: readonly NicStep[]
}

/** Applied one after the other, so that an index means the list as the changes before left it. */
export async function planNics(
  ctx: UnitContext,
  view: InstanceView,
  changes: readonly DeviceChange<GivenNic>[],
  conflictsCheck: boolean,
): Promise<NicPlan> {
  const nics: Nic[] = [...view.instance.nics]
  const steps: NicStep[] = []
  for (const one of changes) {
    if (one.action === 'add') steps.push(await add(ctx, view, nics, one, conflictsCheck))
    else if (one.action === 'remove') steps.push(remove(nics, one))
    else if (one.action === 'modify') steps.push(await modify(ctx, view, nics, one, conflictsCheck))
    else
      throw new OpPrereqError(
        `${one.action === 'attach' ? 'Attach' : 'Detach'} operation is not supported for NICs`,
        ECODE.INVAL,
      )
  }
  checkNames('NIC', nics)
  return { nics, steps }
}

async function add(
  ctx: UnitContext,
  view: InstanceView,
  nics: Nic[],
  { at, params }: DeviceChange<GivenNic>,
  conflictsCheck: boolean,
): Promise<NicStep> {
  const index = indexForNew('NIC', nics.length, at)
  const wanted = await wantedNic(ctx, view.config.cluster, params)
  const nic = await settleNic(ctx, view.config, wanted, index, view.primary, conflictsCheck)
  nics.splice(index, 0, nic)
  const { mode, link } = fillNicParams(view.config.cluster, nic)
  const text = `add:mac=${nic.mac},ip=${pythonText(nic.ip)},mode=${mode},link=${link},network=${pythonText(nic.network)}`
  return { action: 'hotadd', nic, index, changed: [[`nic.${index}`, text]], plugged: `nic.${index}` }
}

function remove(nics: Nic[], { at }: DeviceChange<GivenNic>): NicStep {
  const index = indexOfDevice('NIC', nics, at)
  const [nic] = nics.splice(index, 1)
  if (nic === undefined) throw new OpPrereqError(`Cannot find NIC with identifier ${at}`, ECODE.INVAL)
  return { action: 'hotremove', nic, index, changed: [[`NIC/${index}`, 'remove']], plugged: `NIC/${index}` }
}

async function modify(
  ctx: UnitContext,
  view: InstanceView,
  nics: Nic[],
  { at, params }: DeviceChange<GivenNic>,
  conflictsCheck: boolean,
): Promise<NicStep> {
  const index = indexOfDevice('NIC', nics, at)
  const old = nics[index]
  if (old === undefined) throw new OpPrereqError(`Cannot find NIC with identifier ${at}`, ECODE.INVAL)
  const oldNetwork = old.network === undefined ? undefined : view.config.networks[old.network]
  // What is not given stays; a network's parameters go when the network does.
  const leaves = params.network !== undefined && params.network !== oldNetwork?.name
  const kept = leaves || oldNetwork ? {} : old.nicparams
  const network = params.network ?? oldNetwork?.name
  const full: GivenNic = {
    mac: params.mac ?? old.mac,
    ...(old.ip !== undefined && { ip: old.ip }),
    ...(old.name !== undefined && { name: old.name }),
    ...kept,
    ...params,
    ...(network !== undefined && { network }),
  }
  const wanted = await wantedNic(ctx, view.config.cluster, full)
  const same = { mac: wanted.mac === old.mac, ip: wanted.ip === old.ip && network === oldNetwork?.name }
  const settled = await settleNic(
    ctx,
    view.config,
    { ...wanted, mac: same.mac ? 'auto' : wanted.mac, ip: same.ip ? undefined : wanted.ip },
    index,
    view.primary,
    conflictsCheck,
  )
  const nic: Nic = {
    ...settled,
    uuid: old.uuid,
    mac: same.mac ? old.mac : settled.mac,
    ...(same.ip && old.ip !== undefined && { ip: old.ip }),
  }
  nics[index] = nic
  return { action: 'hotmod', nic, index, changed: changesOf(view, params, nic, index), plugged: `nic/${index}` }
}

function changesOf(view: InstanceView, given: GivenNic, nic: Nic, index: number): Changed[] {
  const filled = fillNicParams(view.config.cluster, nic)
  const now: Readonly<Record<string, unknown>> = {
    mac: nic.mac,
    ip: nic.ip ?? null,
    name: nic.name ?? null,
    network: given.network ?? null,
    ...filled,
  }
  const keys = Object.keys(given).map((key) => (key === 'bridge' ? 'link' : key))
  return keys.map((key): Changed => [`nic.${key}/${index}`, now[key]])
}

export async function plugNics(ctx: UnitContext, view: InstanceView, steps: readonly NicStep[]): Promise<Changed[]> {
  const changed: Changed[] = []
  for (const { action, nic, index, changed: own, plugged } of steps)
    changed.push(...own, [plugged, await hotplug(ctx, view, action, 'nic', nicDict(view.config, nic), null, index)])
  return changed
}
