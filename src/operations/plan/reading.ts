// Records which objects of the configuration are read, with a slice whose containers report each access.
import type { ConfigData } from '../../model/config'
import type { ReadObject } from '../../rpc/luxi/plan'

interface Versioned {
  readonly serial_no: number
  readonly name?: string
}

const CONTAINERS = [
  ['nodes', 'node'],
  ['nodegroups', 'group'],
  ['instances', 'instance'],
  ['networks', 'network'],
] as const

/** The same slice, which calls `note` for each object that is read. */
export function noted(slice: ConfigData, note: (read: ReadObject) => void): ConfigData {
  const watched = (kind: ReadObject['kind'], objects: Readonly<Record<string, Versioned>>) =>
    new Proxy(objects, {
      get(target, uuid) {
        if (typeof uuid !== 'string' || !Object.hasOwn(target, uuid)) return Reflect.get(target, uuid) as unknown
        const object = target[uuid]
        if (object !== undefined) note({ kind, uuid, serial_no: object.serial_no, name: object.name ?? uuid })
        return object
      },
    })
  const { cluster } = slice
  return {
    ...slice,
    ...Object.fromEntries(CONTAINERS.map(([container, kind]) => [container, watched(kind, slice[container])])),
    get cluster() {
      note({ kind: 'cluster', uuid: cluster.uuid, serial_no: cluster.serial_no, name: cluster.cluster_name })
      return cluster
    },
  }
}
