// Packs a tree as a Debian package. The same tree gives the same bytes, whenever it was made and whatever the umask was.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'

/** `epoch`: the time of all files, in seconds. */
export function archive(root: string, file: string, epoch: number): void {
  settle(root, epoch)
  // The packages have a few megabytes. The fastest level is good enough, and dpkg unpacks it just as fast.
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', '-z3', '--build', root, file], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
  })
}

/** dpkg-deb only lowers times that are later than the given one, and takes the modes of directories as they are. So both are set here. */
function settle(root: string, epoch: number): void {
  const entries = fs.readdirSync(root, { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    const place = path.join(entry.parentPath, entry.name)
    if (entry.isDirectory()) fs.chmodSync(place, 0o755)
    fs.lutimesSync(place, epoch, epoch)
  }
  fs.chmodSync(root, 0o755)
  fs.lutimesSync(root, epoch, epoch)
}
