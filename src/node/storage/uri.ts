// How QEMU's programs reach a disk that has no device: turns its URI into options of their block layer.
import { fail } from '../failure'

export type UriBlock =
  | {
      readonly driver: 'gluster'
      readonly server: readonly { readonly type: 'inet'; readonly host: string; readonly port: string }[]
      readonly volume: string
      readonly path: string
    }
  | {
      readonly driver: 'rbd'
      readonly pool: string
      readonly image: string
      readonly snapshot?: string
      readonly user?: string
    }

export function blockOfUri(uri: string): UriBlock {
  return knownUri(uri) ?? fail(`Unsupported storage URI scheme: ${uri}`)
}

/** Returns undefined for a URI that we do not know, although QEMU may. */
export function knownUri(uri: string): UriBlock | undefined {
  const gluster = /^gluster:\/\/\[?([A-Za-z0-9.:-]+?)\]?:(\d+)\/([^/]+)\/(.+)$/.exec(uri)
  if (gluster) {
    const [, host = '', port = '', volume = '', path = ''] = gluster
    return { driver: 'gluster', server: [{ type: 'inet', host, port }], volume, path }
  }
  const rbd = /^rbd:([\w.-]+)\/([\w.-]+)(?:@([\w.-]+))?(?::id=([\w.-]+))?$/.exec(uri)
  if (rbd) {
    const [, pool = '', image = '', snapshot, user] = rbd
    return {
      ...{ driver: 'rbd', pool, image },
      ...(snapshot !== undefined && { snapshot }),
      ...(user !== undefined && { user }),
    }
  }
  return undefined
}
