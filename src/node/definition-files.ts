// Files of OS definitions and storage providers: directories with scripts and lists that administrators install.
import * as path from 'node:path'
import { isMissing } from '../lib/disk'
import { readPlainFile } from '../lib/file/read-bounded'
import type { Files } from '../lib/files'
import { errorText } from '../lib/system-failure'
import { DEFINITION_BYTES_MAX } from '../model/limits/node'
import { fail } from './failure'

export const DEFINITION_NAME = /^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/

export async function readParameters(files: Files, directory: string): Promise<[string, string][]> {
  const lines = (await readLines(files, directory, 'parameters.list')) ?? fail('there is no file parameters.list')
  return lines.map((line) => {
    const [, name = line, description = ''] = /^(\S+)\s*(.*)$/.exec(line) ?? []
    return [name, description]
  })
}

/** Trimmed lines without empty ones and comments; undefined if the file does not exist. */
export async function readLines(files: Files, directory: string, file: string): Promise<string[] | undefined> {
  try {
    const text = await readPlainFile(files, path.join(directory, file), DEFINITION_BYTES_MAX)
    return text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#'))
  } catch (error) {
    if (isMissing(error)) return undefined
    return fail(`${file} cannot be read: ${errorText(error)}`)
  }
}

/** Whether it is a regular file that its owner may execute. */
export async function isScript(files: Files, directory: string, name: string): Promise<boolean> {
  try {
    const info = await files.stat(path.join(directory, name))
    return info.isFile() && (info.mode & 0o100) !== 0
  } catch {
    return false
  }
}

/** The names of the definitions in a directory of the search path. */
export async function subdirectories(files: Files, directory: string): Promise<string[]> {
  try {
    const entries = (await files.readdir(directory)).filter(
      (name) => DEFINITION_NAME.test(name) && !name.startsWith('.'),
    )
    const isDirectory = await Promise.all(
      entries.map((name) => files.stat(path.join(directory, name)).then((info) => info.isDirectory(), () => false)), // prettier-ignore
    )
    return entries.filter((_, index) => isDirectory[index]).sort()
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
