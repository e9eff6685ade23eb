// The mounted file systems of the node.
import { type NodeSources, readIfThere } from './report'

export interface Mount {
  readonly device: string
  readonly point: string
  readonly type: string
  readonly options: readonly string[]
  /** The kernel's number of the file system: each tmpfs has its own. */
  readonly fs: string
  /** The directory of the file system that is mounted. */
  readonly root: string
}

/** In the order of mounting. */
export async function mounts(sources: NodeSources): Promise<readonly Mount[]> {
  const text = (await readIfThere(sources, '/proc/self/mountinfo')) ?? ''
  return text.split('\n').flatMap((line) => {
    // Some optional fields end with a dash.
    const [own = '', whole = ''] = line.split(/ - (.*)$/)
    const [, , fs, root, point, options] = own.split(' ')
    const [type, device, more] = whole.split(' ')
    if (fs === undefined || root === undefined || point === undefined || options === undefined) return []
    if (type === undefined || device === undefined || more === undefined) return []
    return [
      {
        device: plain(device),
        point: plain(point),
        type,
        options: [...options.split(','), ...more.split(',')],
        fs,
        root: plain(root),
      },
    ]
  })
}

/** Blanks and some other characters are written as octal numbers. */
const plain = (text: string): string =>
  text.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)))

/** The longest mount point above the directory. Of two at the same place the later one hides the other. */
export function mountOf(all: readonly Mount[], directory: string): Mount | undefined {
  const above = all.filter(({ point }) => point === '/' || directory === point || directory.startsWith(`${point}/`))
  return above.reduce<Mount | undefined>(
    (best, one) => (best === undefined || one.point.length >= best.point.length ? one : best),
    undefined,
  )
}
