// Finds the end of a transfer that a node call names: a file in an export, a disk, or a disk behind its OS scripts.
import * as path from 'node:path'
import { PATH } from '../../model/constants/paths'
import { disk as diskShape } from '../../rpc/node/shapes'
import type { DiskDict, ImpExpEnd, InstanceDict } from '../../rpc/node/dicts'
import { fail } from '../failure'
import type { NodeContext } from '../context'
import { instanceEnvironment } from '../os'
import { findOs } from '../os-definition'
import { Disks } from '../storage/disks'
import type { Device } from '../storage/storage'
import type { TransferSpec } from './spec'

type End = Pick<TransferSpec, 'end' | 'env'> & Partial<Pick<TransferSpec, 'expectedSize' | 'lender'>>

const MIB = 1 << 20

export async function transferEnd(
  context: NodeContext,
  mode: TransferSpec['mode'],
  instance: InstanceDict,
  [kind, args]: ImpExpEnd,
): Promise<End> {
  if (kind === 'file') return fileEnd(context, mode, args[0])
  if (kind === 'raw') return diskEnd(context, mode, diskShape.parse(args[0], context.paths))
  if (kind !== 'script') return fail(`Unknown kind of ${mode}: '${kind}'; there are file, raw and script`)
  const index = Number(args[1])
  if (!Number.isInteger(index) || index < 0) fail(`Invalid index of a disk: ${JSON.stringify(args[1])}`)
  return scriptEnd(context, mode, instance, diskShape.parse(args[0], context.paths), index)
}

async function fileEnd(context: NodeContext, mode: TransferSpec['mode'], wire: unknown): Promise<End> {
  const { paths, files } = context
  if (typeof wire !== 'string') return fail(`A file is given as its path, not as ${JSON.stringify(wire)}`)
  const file = paths.fromWire(wire)
  const directory = path.dirname(file)
  const outside = () => fail(`File '${paths.virtual(file)}' is not under exports directory '${PATH.EXPORT_DIR}'`)
  if (!directory.startsWith(`${paths.local(PATH.EXPORT_DIR)}/`)) outside()
  if (mode === 'import') await files.mkdir(directory, { recursive: true, mode: 0o750 })
  const exports = await files.realpath(paths.local(PATH.EXPORT_DIR)).catch(() => fail('No exports directory'))
  const real = await files
    .realpath(directory)
    .catch(() => fail(`Directory '${paths.virtual(directory)}' does not exist`))
  // Links may lead elsewhere.
  if (!real.startsWith(`${exports}/`)) outside()
  const end = { kind: 'file', path: path.join(real, path.basename(file)) } as const
  if (mode === 'import') return { end, env: {} }
  const info = await files.lstat(end.path).catch(() => fail(`File '${paths.virtual(file)}' does not exist`))
  if (!info.isFile()) fail(`'${paths.virtual(file)}' is not a file`)
  return { end, env: {}, expectedSize: Math.ceil(info.size / MIB) }
}

async function diskEnd(context: NodeContext, mode: TransferSpec['mode'], disk: DiskDict): Promise<End> {
  const { path: device, lender } = await deviceOf(context, disk)
  return {
    ...{ end: { kind: 'device', path: device }, env: {} },
    ...(lender && { lender }),
    ...(mode === 'export' && { expectedSize: disk.size }),
  }
}

async function scriptEnd(
  context: NodeContext,
  mode: TransferSpec['mode'],
  instance: InstanceDict,
  disk: DiskDict,
  index: number,
): Promise<End> {
  const os = await findOs(context, instance.os)
  // The disk may be a snapshot, which the instance does not know.
  const device = await deviceOf(context, disk)
  const basics = await instanceEnvironment(context, instance, os, 0, mode === 'import' ? 'programs' : 'telling')
  const prefix = mode.toUpperCase()
  const { path: devicePath, uri, lender } = device
  const env = {
    ...basics,
    [`${prefix}_DEVICE`]: devicePath,
    [`${prefix}_DISK_PATH`]: devicePath,
    ...(uri !== undefined && { [`${prefix}_DISK_URI`]: uri }),
    [`${prefix}_INDEX`]: String(index),
  }
  const end = { kind: 'script', path: path.join(os.directory, mode), directory: os.directory } as const
  return { end, env, ...(lender && { lender }), ...(mode === 'export' && { expectedSize: 'script' as const }) }
}

/** A file or device, permanent or borrowed. */
async function deviceOf(context: NodeContext, disk: DiskDict): Promise<Device & Pick<TransferSpec, 'lender'>> {
  const disks = new Disks(context)
  const found = await disks.lender(disk)
  if (found === undefined) return disks.reached(disk)
  await disks.opened(disk)
  const { file, ...lender } = found
  return { path: file, block: false, lender }
}
