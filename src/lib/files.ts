// Files of this machine that we share with programs, administrators and the kernel: devices, scripts, disks of
// instances. Code gets them as a Files argument, so that tests can show another machine. State that must survive a
// crash goes through a Disk.
import * as sync from 'node:fs'
import * as promises from 'node:fs/promises'
import { SmallFiles } from './file/small-files'

export { constants } from 'node:fs'

type Now = 'createReadStream' | 'createWriteStream' | 'existsSync' | 'readFileSync' | 'statSync' | 'watch' | 'writeSync'

/** Node's own functions, by Node's names. */
export type Files = Omit<typeof promises, 'constants' | 'watch'> & Pick<typeof sync, Now>

const OF_KERNEL = /^\/(proc|sys)\//
const kernelFiles = new SmallFiles(promises)

/** Node's own, except for texts of the kernel. */
const readFile = ((file: Parameters<typeof promises.readFile>[0], options?: Parameters<typeof promises.readFile>[1]) =>
  typeof file === 'string' && typeof options === 'string' && OF_KERNEL.test(file)
    ? kernelFiles.read(file, options)
    : promises.readFile(file, options)) as typeof promises.readFile

export const systemFiles: Files = {
  ...promises,
  readFile,
  createReadStream: sync.createReadStream,
  createWriteStream: sync.createWriteStream,
  existsSync: sync.existsSync,
  readFileSync: sync.readFileSync,
  statSync: sync.statSync,
  watch: sync.watch,
  writeSync: sync.writeSync,
}

/** Whether this process has this access to a file. False for a missing or invisible file. */
export async function accessible(files: Files, file: string, mode: number = sync.constants.F_OK): Promise<boolean> {
  try {
    await files.access(file, mode)
    return true
  } catch {
    return false
  }
}
