// The smallest possible template with children: the first child has the data, the second keeps a mark that the disk was made.
import { fail } from '../../../src/node/failure'
import type { Children, Device, DriverFactory } from '../../../src/node/storage/storage'

const MARK = 'twin'

export const twinDriver: DriverFactory = ({ files }) => {
  const isMade = async (meta: Device) => (await files.readFile(meta.path, 'utf8')).startsWith(MARK)
  const device = async (children: Children) => {
    const [data, meta] = devicesOf(children)
    return data !== undefined && meta !== undefined && (await isMade(meta)) ? data : undefined
  }
  const nothing = () => Promise.resolve()
  return {
    hasDisks: true,
    async create(disk, _size, children) {
      const [data, meta] = devicesOf(children)
      if (data === undefined || meta === undefined) return fail('a twin needs two children')
      if (await isMade(meta)) fail('the twin exists')
      await files.writeFile(meta.path, MARK, { flag: 'r+' })
      return disk.logical_id ?? []
    },
    find: (_disk, children) => device(children),
    assemble: async (_disk, children) => (await device(children)) ?? fail('the twin was not made'),
    shutdown: nothing,
    open: nothing,
    close: nothing,
    grow: nothing,
    remove: nothing,
    rename: async () => fail('a twin has no name of its own, so one exists already'),
    setInfo: nothing,
    snapshot: async () => fail('the data of a twin is in its first child'),
    dimensions: async (_disk, { path }) => ({ size_bytes: (await files.stat(path)).size, spindles: null }),
  }
}

const devicesOf = (children: Children): readonly (Device | undefined)[] => children.map(({ device }) => device)
