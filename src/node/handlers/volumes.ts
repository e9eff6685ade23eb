// Node calls about logical volumes and block devices that need not belong to a disk.
import { DEVICE_ANSWER_S } from '../../model/limits/storage'
import type { Handlers } from '../context'
import { seenDevices } from '../storage/adoptable'
import { reportsOf, volumeStates } from '../storage/volume-reports'

const MIB = 1 << 20

export const volumeHandlers = {
  async vg_list(context) {
    return Object.fromEntries((await reportsOf(context).groups()).map((group) => [group.name, group.size_mib]))
  },

  lv_list: (context, groups) =>
    volumeStates(
      reportsOf(context),
      [groups].flat().filter((name) => name !== ''),
    ),

  async node_volumes(context) {
    const volumes = await reportsOf(context).logical()
    return volumes.flatMap(({ vg, name, size, devices }) =>
      devices.map((device) => ({ name, size, dev: device.replace(/\(.*$/, ''), vg })),
    )
  },

  /** Skips missing devices, and files that are not block devices. */
  async bdev_sizes({ run }, devices) {
    const sizes: Record<string, number> = {}
    for (const device of devices) {
      if (!device.startsWith('/dev/') || device.split('/').includes('..')) continue
      const { code, stdout } = await run(['blockdev', '--getsize64', device], {
        timeout_s: DEVICE_ANSWER_S,
        about: device,
      })
      if (code === 0) sizes[device] = Math.floor(Number(stdout) / MIB)
    }
    return sizes
  },

  gantry_devices_seen: seenDevices,
} satisfies Partial<Handlers>
