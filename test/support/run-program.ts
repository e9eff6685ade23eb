// Runs a program as a user does: as its own process, in an empty folder that is removed afterwards.
import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
  /** The files that it has written, by name. */
  readonly files: Readonly<Record<string, string>>
}

export async function runProgram(program: string, args: readonly string[]): Promise<Ran> {
  const cwd = fs.mkdtempSync(path.join(os.tmpdir(), 'program-'))
  let [out, err] = ['', '']
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (err += text))
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  const files = fs.readdirSync(cwd).map((name) => [name, fs.readFileSync(path.join(cwd, name), 'utf8')] as const)
  fs.rmSync(cwd, { recursive: true })
  return { code, out, err, files: Object.fromEntries(files) }
}
