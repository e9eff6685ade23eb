// Finds where a file is mounted without asking its file system. One that other machines serve may never answer, and
// would hang our whole process.
import * as fs from 'node:fs'
import * as path from 'node:path'

export interface Place {
  /** Undefined if the kernel does not tell it, as of the root of a plain chroot. */
  readonly mountPoint?: string
  /** The file, or the nearest existing folder above it; undefined if checking could hang. */
  readonly existing?: string
}

interface Mount {
  readonly point: string
  readonly type: string
}

/** Local file systems. Others may wait for other machines, or for a program. */
const LOCAL = new Set([
  ...['bcachefs', 'btrfs', 'devpts', 'devtmpfs', 'ext2', 'ext3', 'ext4', 'f2fs', 'iso9660', 'jfs', 'mqueue', 'overlay'],
  ...['proc', 'ramfs', 'reiserfs', 'rootfs', 'squashfs', 'sysfs', 'tmpfs', 'udf', 'vfat', 'xfs', 'zfs', 'cgroup2'],
])
const LINKS_MAX = 40

/** Follows links that are on this machine. */
export function placeOf(file: string, mountinfo = '/proc/self/mountinfo'): Place | undefined {
  const mounts = readMounts(mountinfo)
  const rest = wordsOf(path.resolve(file))
  let [at, links] = ['/', 0]
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const next = path.join(at, word)
    const mount = mountOf(next, mounts)
    if (mount !== undefined && !LOCAL.has(mount.type)) return { mountPoint: mount.point }
    const stat = fs.lstatSync(next, { throwIfNoEntry: false })
    if (stat === undefined) break
    if (!stat.isSymbolicLink()) at = next
    else if (++links > LINKS_MAX) return undefined
    else {
      rest.unshift(...wordsOf(path.resolve(at, fs.readlinkSync(next))))
      at = '/'
    }
  }
  const mount = mountOf(at, mounts)
  // What the kernel does not list holds this program's own files, so it answers.
  if (mount === undefined) return { existing: at }
  return { mountPoint: mount.point, ...(LOCAL.has(mount.type) && { existing: at }) }
}

const wordsOf = (file: string): string[] => file.split('/').filter((word) => word !== '')

function readMounts(mountinfo: string): Mount[] {
  const lines = fs.readFileSync(mountinfo, 'utf8').trimEnd().split('\n')
  return lines.map((line) => {
    const [before = '', after = ''] = line.split(' - ')
    const point = (before.split(' ')[4] ?? '').replace(/\\(\d{3})/g, (_, octal: string) => {
      return String.fromCharCode(parseInt(octal, 8))
    })
    return { point, type: after.split(' ')[0] ?? '' }
  })
}

/** The longest mount point above the file. Of two at the same place the later one hides the other. */
function mountOf(file: string, mounts: readonly Mount[]): Mount | undefined {
  const above = mounts.filter(({ point }) => point === '/' || file === point || file.startsWith(`${point}/`))
  return above.reduce<Mount | undefined>((best, one) => {
    return best === undefined || one.point.length >= best.point.length ? one : best
  }, undefined)
}
