// Input files of commands.
import type { Files } from '../../lib/files'
import { errorText } from '../../lib/system-failure'
import { CommandFailure } from '../outcome'

/** `-` is the standard input; `complaint` begins the error. */
export async function readInput(files: Files, file: string, complaint = `Can't read '${file}'`): Promise<string> {
  try {
    return await files.readFile(file === '-' ? '/dev/stdin' : file, 'utf8')
  } catch (error) {
    throw new CommandFailure(`${complaint}: ${errorText(error)}`)
  }
}

export async function readJson(files: Files, file: string, complaint = `Can't read '${file}'`): Promise<unknown> {
  const text = await readInput(files, file, complaint)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new CommandFailure(`${complaint}: ${errorText(error)}`)
  }
}
