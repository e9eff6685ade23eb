// The seed disk for the guest's cloud-init: a file beside the runtime data, which QEMU shows read-only. It contains
// secrets, so nobody else may read it, and it exists only while the instance runs.
import { gunzipSync, gzipSync } from 'node:zlib'
import { isMissing } from '../../../lib/disk'
import type { Files } from '../../../lib/files'
import { SEED_BYTES_MAX } from '../../../model/limits/cloud-init'
import { KVM_DIR, type KvmLayout } from './layout'
import type { KvmParams } from './params'
import type { DevicePlace, KvmRuntime } from './runtime'

/** After all disks and NICs, so that the guest's first disk stays `vda`. */
const PLACE: DevicePlace = { addr: '0x1e' }

/**
 * QEMU's options, with Ganeti's paths. A CD-ROM only if disks are `ide`: kernels for clouds often support only virtio.
 */
export function seedArguments(name: string, params: KvmParams, bus: string): string[] {
  const device =
    params.text('disk_type') === 'ide'
      ? 'ide-cd,drive=seed'
      : `virtio-blk-pci,drive=seed,bus=${bus},addr=${PLACE['addr']}`
  return [
    ...['-drive', `file=${KVM_DIR}/seed/${name}.iso,format=raw,if=none,id=seed,readonly=on`],
    ...['-device', device],
  ]
}

/** The place that it takes on the bus. */
export const seedPlace = ({ command }: Pick<KvmRuntime, 'command'>): DevicePlace | undefined =>
  command.some((word) => word.startsWith('virtio-blk-pci,drive=seed,')) ? PLACE : undefined

/** Without a seed, removes that of an earlier run. */
export async function writeSeed(
  files: Files,
  layout: KvmLayout,
  name: string,
  seed: Uint8Array | undefined,
): Promise<void> {
  const file = layout.seedFile(name)
  await files.rm(file, { force: true })
  if (seed !== undefined) await files.writeFile(file, seed, { mode: 0o600 })
}

/** For the target of a migration: the guest must find the same seed there. */
export async function packedSeed(files: Files, layout: KvmLayout, name: string): Promise<string | undefined> {
  try {
    return gzipSync(await files.readFile(layout.seedFile(name))).toString('base64')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

export const unpackedSeed = (packed: string | undefined): Uint8Array | undefined =>
  packed === undefined ? undefined : gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: SEED_BYTES_MAX })
