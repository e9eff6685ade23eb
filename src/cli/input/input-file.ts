// Files that a command is given to read.
import { errorText } from '../../lib/system-failure'
import * as fs from 'node:fs/promises'
import { CommandFailure } from '../command'

/** `-` is the standard input; `complaint` is how a failure begins. */
export async function readInput(file: string, complaint = `Can't read '${file}'`): Promise<string> {
  try {
    return await fs.readFile(file === '-' ? '/dev/stdin' : file, 'utf8')
  } catch (error) {
    throw new CommandFailure(`${complaint}: ${errorText(error)}`)
  }
}

export async function readJson(file: string, complaint = `Can't read '${file}'`): Promise<unknown> {
  const text = await readInput(file, complaint)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new CommandFailure(`${complaint}: ${errorText(error)}`)
  }
}
