// The `.runtime` file: the hardware with which an instance was started. A reboot or a migration must give the guest the
// same hardware, even if its configuration has changed. The format is Ganeti's: a JSON list of the command's fixed
// part, the NICs, the parameters and the disks with their links. Its paths are Ganeti's, not those below a virtual
// root.
import { isMissing } from '../../../lib/disk'
import type { Files } from '../../../lib/files'
import type { DiskDict, HvParams, NicDict } from '../../../rpc/node/dicts'
import { HypervisorFailure } from '../hypervisor'
import { isObject } from '../../../lib/shapes/shape'
import { isList } from './qmp'

/** A device's place on its bus: `driver`, `id` and the bus's own properties. */
export type DevicePlace = Readonly<Record<string, string | number>>

export type PlacedNic = NicDict & { readonly hvinfo?: DevicePlace }
export type PlacedDisk = DiskDict & { readonly hvinfo?: DevicePlace }

export interface RuntimeDisk {
  readonly disk: PlacedDisk
  /** In Ganeti's paths. */
  readonly link: string
  readonly uri?: string
}

export interface KvmRuntime {
  /** The fixed part of the command, in Ganeti's paths, without its program. */
  readonly command: readonly string[]
  readonly program: string
  readonly nics: readonly PlacedNic[]
  /** The parameters at the instance's start. */
  readonly hvparams: HvParams
  readonly disks: readonly RuntimeDisk[]
  /** The features of the source's processor, for a migration of a guest with that processor. */
  readonly cpuFlags?: readonly string[]
  /** For a migration: the packed seed for cloud-init. On disk it is only in its own file. */
  readonly seed?: string
}

export function encodeRuntime(runtime: KvmRuntime): string {
  const { cpuFlags, seed } = runtime
  return JSON.stringify([
    [runtime.program, ...runtime.command],
    runtime.nics,
    runtime.hvparams,
    runtime.disks.map(({ disk, link, uri }) => [disk, link, uri ?? null]),
    // Ganeti reads no further than the fourth part.
    ...(cpuFlags === undefined && seed === undefined
      ? []
      : [{ ...(cpuFlags && { cpu_flags: cpuFlags.join(' ') }), ...(seed !== undefined && { seed }) }]),
  ])
}

export function decodeRuntime(text: string): KvmRuntime {
  const parts = parseList(text)
  const [command, nics, hvparams, disks, more] = parts
  if (!Array.isArray(command) || !Array.isArray(nics) || !isObject(hvparams) || !Array.isArray(disks))
    throw new HypervisorFailure('The KVM runtime data is not a list of command, NICs, parameters and disks')
  const [program, ...rest] = command.map(String)
  if (program === undefined) throw new HypervisorFailure('The KVM runtime data has no command')
  return {
    program,
    command: upgraded(rest),
    nics: nics.filter(isNic),
    hvparams,
    disks: disks.flatMap((entry) => decodeDisk(entry)),
    ...(isObject(more) && typeof more['cpu_flags'] === 'string' ? { cpuFlags: more['cpu_flags'].split(' ') } : {}),
    ...(isObject(more) && typeof more['seed'] === 'string' ? { seed: more['seed'] } : {}),
  }
}

/**
 * Earlier versions wrote `NAME,debug-threads=on`, by which Ganeti does not recognize its guest. Ganeti 3.0 keeps
 * `-chroot` here, but it depends on the node's QEMU, and is added at every start.
 */
function upgraded(words: readonly string[]): string[] {
  return words.flatMap((word, index) => {
    const before = words[index - 1]
    if (word === '-chroot' || before === '-chroot') return []
    return [before === '-name' ? (word.split(',')[0] ?? word) : word]
  })
}

export async function readRuntime(files: Files, file: string): Promise<KvmRuntime | undefined> {
  try {
    return decodeRuntime(await files.readFile(file, 'utf8'))
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

export async function writeRuntime(files: Files, file: string, text: string): Promise<void> {
  await files.writeFile(`${file}.new`, text, { mode: 0o640 })
  await files.rename(`${file}.new`, file)
}

function parseList(text: string): unknown[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new HypervisorFailure('The KVM runtime data is not JSON')
  }
  return Array.isArray(value) ? value : []
}

function decodeDisk(entry: unknown): RuntimeDisk[] {
  if (!isList(entry)) return []
  const [disk, link, uri] = entry
  if (!isDisk(disk) || typeof link !== 'string') return []
  return [{ disk, link, ...(typeof uri === 'string' && uri !== '' ? { uri } : {}) }]
}

const isNic = (value: unknown): value is PlacedNic =>
  isObject(value) && typeof value['mac'] === 'string' && isObject(value['nicparams']) && isPlace(value['hvinfo'])

const isDisk = (value: unknown): value is PlacedDisk =>
  isObject(value) &&
  typeof value['dev_type'] === 'string' &&
  typeof value['uuid'] === 'string' &&
  isPlace(value['hvinfo'])

const isPlace = (value: unknown): boolean =>
  value === undefined ||
  (isObject(value) && Object.values(value).every((part) => ['string', 'number'].includes(typeof part)))
