// Turns a reservation into a real instance. It keeps its name, uuid, nodes and disks. Whatever the opcode leaves out is taken from the
// reservation.
import type { Disk, Instance, Nic } from '../../../model/config'
import { readOwn } from '../../../model/disk-parameters'
import { ECODE, OpPrereqError } from '../../../model/errors'
import { factsOf, isDrbd, NO_DISKS } from '../../../model/templates'
import type { DiskParams, NicParams as GivenNic } from '../../../opcodes/types'
import { findInstance, findNetwork, findNode } from '../../find'
import type { UnitContext } from '../../unit-context'
import { isAdopted } from '../disks/adoption'
import { wantedMac } from '../nics/spec'
import { viewOf, type InstanceView } from '../view'
import type { CreateOp } from './plan'

/** Reads the reservation that the opcode commits. An interrupted creation starts again in the same way. */
export async function readReservation(ctx: UnitContext, name: string): Promise<InstanceView> {
  const { config, object } = await findInstance(ctx, name)
  if (object.forthcoming !== true)
    throw new OpPrereqError(
      `Instance '${object.name}' is not reserved: it exists already, so there is nothing to commit to`,
      ECODE.STATE,
    )
  const view = viewOf(config, object)
  if (view.disks.some((disk) => isAdopted(disk) || factsOf(disk.dev_type).adoptedOnly === true))
    throw new OpPrereqError(
      `The creation of instance '${object.name}', which was to adopt its disks, did not end; remove it with ` +
        `'gnt-instance remove ${object.name}', which gives them back, and add it again`,
      ECODE.STATE,
    )
  return view
}

/** Turns the opcode of a commit into one of an ordinary creation. */
export async function asReserved(ctx: UnitContext, op: CreateOp, view: InstanceView): Promise<CreateOp> {
  const { instance } = view
  const disk_template = view.disks[0]?.dev_type ?? NO_DISKS
  if (op.disk_template !== undefined && op.disk_template !== disk_template)
    throw differs(instance, 'has disks of the template', disk_template, op.disk_template)
  const sameHypervisor = op.hypervisor === undefined || op.hypervisor === instance.hypervisor
  const sameOs = op.os_type === undefined || op.os_type === instance.os
  return {
    ...op,
    instance_name: instance.name,
    ...(await nodesAsReserved(ctx, op, view)),
    ...{ iallocator: undefined, opportunistic_locking: false },
    disk_template,
    disks: disksAsReserved(op.disks, view),
    nics: await nicsAsReserved(ctx, op.nics, instance.nics),
    hypervisor: op.hypervisor ?? instance.hypervisor,
    os_type: op.os_type ?? (instance.os === '' ? undefined : instance.os),
    hvparams: { ...(sameHypervisor && instance.hvparams), ...op.hvparams },
    beparams: { ...backendAsReserved(instance, op), ...op.beparams },
    osparams: { ...(sameOs && instance.osparams), ...op.osparams },
    osparams_private: { ...(sameOs && instance.osparams_private), ...op.osparams_private },
    tags: op.tags.length > 0 ? op.tags : instance.tags,
  }
}

/** Checks that the reservation was not moved while the job waited for the locks. */
export function checkHeld(ctx: UnitContext, { instance, primary, secondaries }: InstanceView): void {
  const held = ctx.locks.holds('node')
  if (held === 'all' || [primary, ...secondaries].every(({ uuid }) => held.includes(uuid))) return
  throw new OpPrereqError(
    `The nodes of instance '${instance.name}' have changed since locks were acquired; try again`,
    ECODE.STATE,
  )
}

const differs = ({ name }: Instance, what: string, reserved: string, input: unknown): OpPrereqError =>
  new OpPrereqError(
    `Instance '${name}' ${what} ${reserved} in its reservation, not ${String(input)}; leave it out, or remove the reservation and make another one`,
    ECODE.INVAL,
  )

async function nodesAsReserved(ctx: UnitContext, op: CreateOp, { instance, primary, secondaries }: InstanceView) {
  const [secondary] = secondaries
  if (op.pnode !== undefined || op.pnode_uuid !== undefined) {
    const { object } = await findNode(ctx, op.pnode ?? op.pnode_uuid ?? '', op.pnode_uuid)
    if (object.uuid !== primary.uuid) throw differs(instance, 'has the primary node', primary.name, object.name)
  }
  if (secondary !== undefined && (op.snode !== undefined || op.snode_uuid !== undefined)) {
    const { object } = await findNode(ctx, op.snode ?? op.snode_uuid ?? '', op.snode_uuid)
    if (object.uuid !== secondary.uuid) throw differs(instance, 'has the secondary node', secondary.name, object.name)
  }
  const own = { pnode: primary.name, pnode_uuid: primary.uuid }
  return secondary === undefined ? own : { ...own, snode: secondary.name, snode_uuid: secondary.uuid }
}

/** `memory` sets both bounds. */
function backendAsReserved({ beparams }: Instance, op: CreateOp): Instance['beparams'] {
  if (op.beparams['memory'] === undefined) return beparams
  const { minmem: _min, maxmem: _max, ...others } = beparams
  return others
}

/** Takes the disks of the reservation. Disks in the opcode must equal them. */
function disksAsReserved(input: readonly DiskParams[], { instance, disks }: InstanceView): DiskParams[] {
  const reserved = disks.map(paramsOf)
  if (input.length > 0 && input.length !== reserved.length)
    throw differs(instance, 'has', countOf(reserved.length), countOf(input.length))
  input.forEach((disk, index) => {
    const own: Readonly<Record<string, unknown>> = { ...reserved[index] }
    const desired = { ...disk, ...readOwn(disks[index]?.dev_type ?? NO_DISKS, disk) }
    for (const [name, value] of Object.entries(desired))
      if (value !== undefined && String(value) !== String(own[name]))
        throw differs(instance, `has disk ${index} with the ${name}`, String(own[name] ?? 'none'), value)
  })
  return reserved
}

const countOf = (disks: number): string => (disks === 1 ? 'one disk' : `${disks} disks`)

function paramsOf(disk: Disk): DiskParams {
  const { size, mode, name, spindles, params, dev_type, logical_id, children } = disk
  const [data, meta] = isDrbd(dev_type)
    ? children.map((child) => child.logical_id[0])
    : factsOf(dev_type).id === 'volume'
      ? [logical_id[0]]
      : []
  return {
    ...{ ...params, size, mode },
    ...(name !== undefined && { name }),
    ...(spindles !== undefined && { spindles }),
    ...(data !== undefined && { vg: String(data) }),
    ...(meta !== undefined && { metavg: String(meta) }),
  }
}

/** One empty NIC means that the user said nothing about NICs. An empty list means no NICs. */
async function nicsAsReserved(
  ctx: UnitContext,
  input: readonly GivenNic[],
  reserved: readonly Nic[],
): Promise<readonly GivenNic[]> {
  if (input.length === 1 && isEmpty(input[0])) return reserved.map(givenAs)
  return Promise.all(input.map((nic, index) => withAddresses(ctx, nic, reserved[index])))
}

const isEmpty = (nic: GivenNic = {}): boolean => Object.values(nic).every((value) => value === undefined)

const givenAs = ({ mac, ip, name, network, nicparams }: Nic): GivenNic => ({
  mac,
  ...(ip !== undefined && { ip }),
  ...(name !== undefined && { name }),
  ...(network === undefined ? nicparams : { network }),
})

/** Takes an address that the cluster has already chosen for the reservation, instead of choosing another. */
async function withAddresses(ctx: UnitContext, nic: GivenNic, reserved: Nic | undefined): Promise<GivenNic> {
  if (reserved === undefined) return nic
  if (isEmpty(nic)) return givenAs(reserved)
  const mac = wantedMac(nic.mac) === 'auto' ? reserved.mac : nic.mac
  const isPool = nic.ip?.toLowerCase() === 'pool' && nic.network !== undefined && reserved.ip !== undefined
  const isSame = isPool && (await findNetwork(ctx, nic.network ?? '')).object.uuid === reserved.network
  return { ...nic, mac, ...(isSame && { ip: reserved.ip }) }
}
