// The mounted file systems of the node.
import { type NodeSources, readIfThere } from './report'

export interface Mount {
  readonly device: string
  readonly point: string
  readonly type: string
  readonly options: readonly string[]
}

/** In the order of mounting. */
export async function mounts(sources: NodeSources): Promise<readonly Mount[]> {
  const text = (await readIfThere(sources, '/proc/self/mounts')) ?? ''
  return text.split('\n').flatMap((line) => {
    const [device, point, type, options] = line.split(' ')
    if (device === undefined || point === undefined || type === undefined || options === undefined) return []
    return [{ device: plain(device), point: plain(point), type, options: options.split(',') }]
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
