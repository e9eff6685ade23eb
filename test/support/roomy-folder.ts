// A temporary folder with room for mirrored disks, whose notes alone may take 128 MiB each. /tmp is in memory on some machines, and small.
import * as fs from 'node:fs'
import * as os from 'node:os'

const ROOM_BYTES = 2 ** 30

export function roomyFolder(): string {
  const { bavail, bsize } = fs.statfsSync(os.tmpdir())
  return bavail * bsize > ROOM_BYTES ? os.tmpdir() : '/var/tmp'
}
