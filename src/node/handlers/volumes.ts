// Node calls about logical volumes and block devices as such.
import type { Handlers } from '../context'
import { logicalVolumes, volumeGroups } from '../storage/lvm/units'

const MIB = 1 << 20

export const volumeHandlers = {
  async vg_list({ run }) {
    return Object.fromEntries((await volumeGroups(run)).map((group) => [group.name, group.size_mib]))
  },

  /** Attribute 5 is `-` for an inactive volume, attribute 6 `o` for an open one. */
  async lv_list({ run }, groups) {
    const wanted = typeof groups === 'string' ? [groups] : groups
    const found = await logicalVolumes(run)
    const volumes = wanted.length === 0 ? found : found.filter(({ vg }) => wanted.includes(vg))
    return Object.fromEntries(
      volumes.map(({ vg: group, name, size, attributes }) => {
        return [`${group}/${name}`, [size, attributes[4] === '-', attributes[5] === 'o']]
      }),
    )
  },

  async node_volumes({ run }) {
    const volumes = await logicalVolumes(run)
    return volumes.flatMap(({ vg, name, size, devices }) =>
      devices.map((device) => ({ name, size, dev: device.replace(/\(.*$/, ''), vg })),
    )
  },

  /** Devices that are not there, or not block devices, are left out. */
  async bdev_sizes({ run }, devices) {
    const sizes: Record<string, number> = {}
    for (const device of devices) {
      if (!device.startsWith('/dev/') || device.split('/').includes('..')) continue
      const { code, stdout } = await run(['blockdev', '--getsize64', device])
      if (code === 0) sizes[device] = Math.floor(Number(stdout) / MIB)
    }
    return sizes
  },
} satisfies Partial<Handlers>
