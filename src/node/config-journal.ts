// A master candidate's copy of the configuration's journal. Only bytes are kept here: what they mean is the configuration's matter.
import * as fs from 'node:fs/promises'
import { isMissing } from '../lib/disk'
import { MODE } from '../model/constants/daemons'
import type { NodeContext } from './context'
import { fail } from './context'

export async function receiveJournal(context: NodeContext, offset: number, records: Buffer): Promise<void> {
  const file = context.paths.journalFile
  if (offset === 0) return context.disk.write(file, records, { mode: MODE.config })
  const handle = await open(file)
  try {
    const { size } = await handle.stat()
    if (size === offset + records.length && (await tailIs(handle, offset, records))) return
    if (size !== offset) fail(`The copy of the journal has ${size} bytes, not ${offset}: it needs a full copy`)
    await handle.write(records, 0, records.length, offset)
    await handle.datasync()
  } finally {
    await handle.close()
  }
}

async function open(file: string): Promise<fs.FileHandle> {
  try {
    return await fs.open(file, 'r+')
  } catch (error) {
    return isMissing(error) ? fail('There is no copy of the journal here: it needs a full copy') : Promise.reject(error)
  }
}

async function tailIs(handle: fs.FileHandle, offset: number, records: Buffer): Promise<boolean> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(records.length), 0, records.length, offset)
  return bytesRead === records.length && buffer.equals(records)
}
