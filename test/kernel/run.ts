// Runs programs for tests on machines, and notes them where KERNEL_LOG names a file: when each ended, after how many seconds, how.
import { spawn } from 'node:child_process'
import * as fs from 'node:fs'

export interface Ran {
  readonly code: number | null
  readonly output: string
}

/** Runs a program, and ends it after `patience_s`. `what` is noted in place of a long command line. */
export async function run(
  words: readonly string[],
  patience_s: number,
  { input = '', what = words.join(' ') } = {},
): Promise<Ran> {
  const [command = '', ...args] = words
  const begun_ms = Date.now()
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: patience_s * 1000,
    killSignal: 'SIGKILL',
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stdin.on('error', () => undefined).end(input)
  const code = await new Promise<number | null>((resolve, reject) => child.on('close', resolve).on('error', reject))
  note(`${((Date.now() - begun_ms) / 1000).toFixed(1)} ${code} ${what}${code === 0 ? '' : `: ${output.trim()}`}`)
  return { code, output }
}

function note(text: string): void {
  const file = process.env['KERNEL_LOG']
  if (file !== undefined) fs.appendFileSync(file, `${new Date().toISOString()} ${text}\n`)
}
