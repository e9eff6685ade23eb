// Zeroing the free space of an instance's disks before an export. Checks everything that a helper machine needs before
// anything is changed.
import { errorText } from '../../lib/system-failure'
import { HELPER_DISK_NAME, MAX_DISKS } from '../../model/constants/disks'
import { HELPER_VM_STARTUP_S, ZEROING_TIMEOUT_PER_MIB_S } from '../../model/constants/exports'
import type { Disk, Hypervisor, Node, Params } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import { IMAGE_SIZE_S } from '../../model/limits/operations'
import { factsOf, isStorageEnabled, TEMPORARY } from '../../model/templates'
import { checkInstanceState, ONLINE } from '../instance/checks'
import { checkFileSpace } from '../instance/disks/file-space'
import { newDisks } from '../instance/disks/new-disks'
import { fileStorageFolder } from '../instance/disks/spec'
import { checkVolumeSpace, volumeNeeds } from '../instance/disks/volume-space'
import { startOverrides, type StartOverrides } from '../instance/parameters/params'
import { checkCanStart } from '../instance/startup'
import type { InstanceView } from '../instance/view'
import type { Change, UnitContext } from '../unit-context'
import type { ExportOp } from './remote'

const MIB = 1 << 20

export interface Zeroing {
  readonly image: string
  /** The disk from which the helper machine boots. */
  readonly disk: Disk
  readonly overrides: StartOverrides
  readonly limit_s: number
  /** Changes for other findings of the check. */
  readonly confirmed: readonly Change[]
}

/**
 * Makes an instance boot its first disk, whatever it boots usually. `user_shutdown` is off, since nobody needs to know
 * who ended a helper machine.
 */
const BOOT_DISK: Partial<Record<Hypervisor, Params>> = {
  kvm: { boot_order: 'disk', kernel_path: '', user_shutdown: false },
  'xen-hvm': { boot_order: 'c' },
  'xen-pvm': {},
}

export function checkZeroingArguments(op: ExportOp): void {
  const refuse = (text: string) => new OpPrereqError(text, ECODE.INVAL)
  const { zeroing_timeout_fixed: fixed, zeroing_timeout_per_mib: perMib } = op
  if (!op.zero_free_space && (fixed !== undefined || perMib !== undefined))
    throw refuse('Zeroing timeout options can only be used only with the --zero-free-space option')
  if ((fixed ?? 0) < 0 || (perMib ?? 0) < 0) throw refuse('Zeroing timeouts are seconds, and cannot be negative')
  if (op.zero_free_space && !op.shutdown) throw refuse('Unless the instance is shut down, zeroing cannot be used.')
}

export async function planZeroing(ctx: UnitContext, op: ExportOp, view: InstanceView): Promise<Zeroing> {
  const { instance, disks, primary, config } = view
  const { hypervisor, name } = instance
  const image = config.cluster.zeroing_image
  const refuse = (text: string) => new OpPrereqError(text, ECODE.INVAL)
  if (image === '')
    throw refuse(
      'A zeroing image must be set for zeroing to work: "gnt-cluster modify --zeroing-image=IMAGE" names one, a file on all nodes or a URL',
    )
  const hvparams = BOOT_DISK[hypervisor]
  if (hvparams === undefined)
    throw refuse(
      `Hypervisor ${hypervisor} of instance ${name} boots no disk, so it can have no helper machine for zeroing`,
    )
  if (disks.length === 0) throw refuse(`Instance ${name} has no disks to zero the free space of`)
  if (disks.length >= MAX_DISKS)
    throw refuse(`Instance ${name} has ${disks.length} disks, so that of a helper machine for zeroing is too many`)
  await checkInstanceState(ctx, view, ONLINE)
  const { confirmed } = await checkCanStart(ctx, view)
  const overrides = await startOverrides(ctx, view, { hvparams, beparams: {} })
  const disk = await helperDisk(ctx, view, Math.ceil((await imageSize(ctx, primary, image)) / MIB))
  const { zeroing_timeout_fixed: fixed = HELPER_VM_STARTUP_S } = op
  const { zeroing_timeout_per_mib: perMib = ZEROING_TIMEOUT_PER_MIB_S } = op
  return { image, disk, overrides, limit_s: fixed + perMib * disks.reduce((sum, { size }) => sum + size, 0), confirmed }
}

async function helperDisk(ctx: UnitContext, view: InstanceView, size: number): Promise<Disk> {
  const { config, primary, disks, instance } = view
  const { cluster } = config
  const template = TEMPORARY.find((one) => isStorageEnabled(cluster, factsOf(one).storage))
  if (template === undefined)
    throw new OpPrereqError(
      `A helper machine for zeroing has a disk of template ${TEMPORARY.join(', ')}, none of which this cluster has enabled: ` +
        '"gnt-cluster modify --enabled-disk-templates=LIST" enables them',
      ECODE.STATE,
    )
  const place = { config, primary, folder: fileStorageFolder(cluster, template, instance.name, undefined) }
  const [disk] = newDisks(ctx, [{ size, mode: 'rw', name: HELPER_DISK_NAME }], template, place, { first: disks.length })
  if (disk === undefined) throw new OpPrereqError('Missing disk', ECODE.FAULT)
  await checkFileSpace(ctx, { cluster, node: primary, template }, size, false)
  await checkVolumeSpace(ctx, config, [primary], volumeNeeds([disk]))
  return disk
}

/** The size in bytes. */
async function imageSize(ctx: UnitContext, node: Node, image: string): Promise<number> {
  const unfit = (why: string) =>
    new OpPrereqError(
      `Zeroing image '${image}' ${why}; "gnt-cluster modify --zeroing-image=IMAGE" names another`,
      ECODE.ENVIRON,
    )
  if (image.startsWith('/')) {
    const what = `Could not determine the size of zeroing image '${image}' on node ${node.name}`
    const [isFile, { size = 0 }] = await ctx.nodes.require(node, what, ECODE.ENVIRON, 'get_file_info', [image])
    if (!isFile || size === 0) throw unfit(`is missing or empty on node ${node.name}: copy it there`)
    return size
  }
  const size = await sizeAtAddress(ctx, image).catch((error: unknown) => {
    throw unfit(`cannot be asked for: ${errorText(error)}`)
  })
  if (size > 0) return size
  throw unfit('has no known size: its server sends no Content-Length')
}

async function sizeAtAddress(ctx: UnitContext, image: string): Promise<number> {
  const end = new AbortController()
  const timer = ctx.env.clock.after(IMAGE_SIZE_S * 1000, () =>
    end.abort(new Error(`no answer within ${IMAGE_SIZE_S} seconds`)),
  )
  try {
    const { ok, status, headers } = await fetch(image, { method: 'HEAD', signal: end.signal })
    if (!ok) throw new Error(`HTTP status ${status}`)
    return Number(headers.get('content-length') ?? 0)
  } catch (error) {
    // Node's fetch hides the reason of a failure in `cause`.
    throw error instanceof Error && error.cause !== undefined ? error.cause : error
  } finally {
    timer.cancel()
  }
}
