// Programs in a stream: OS scripts at its end, and compression tools within it.
import type { ChildProcess, spawn } from 'node:child_process'
import { Duplex, Readable, type Writable } from 'node:stream'
import { PLAIN_ENVIRONMENT } from '../../lib/programs/run-command'
import type { TransferSpec } from './spec'
import type { TransferStatus } from './status'

type Spawn = typeof spawn
type Script = Extract<TransferSpec['end'], { kind: 'script' }>

/** A part of the stream; `ended` rejects if its program failed. */
export interface StreamProgram<S> {
  readonly stream: S
  readonly ended: Promise<void>
}

/** The descriptor on which a script tells its size, named in EXP_SIZE_FD. */
const SIZE_FD = 3
const MIB = 1 << 20

export function exportScript(
  script: Script,
  spec: TransferSpec,
  status: TransferStatus,
  start: Spawn,
): StreamProgram<Readable> {
  const child = start(script.path, [], {
    cwd: script.directory,
    env: { ...spec.env, EXP_SIZE_FD: String(SIZE_FD) },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  let reported = ''
  const [, output, , size] = child.stdio
  if (output === null || !(size instanceof Readable)) throw new Error('a script was started without its pipes')
  size.setEncoding('utf8').on('data', (text: string) => {
    reported = (reported + text).slice(0, 32)
    if (/^\d+\s/.test(reported)) status.expected_mib = Number.parseInt(reported, 10) / MIB
  })
  size.on('error', () => undefined)
  return { stream: output, ended: ended(child, 'the export script', spec, status) }
}

export function importScript(
  script: Script,
  spec: TransferSpec,
  status: TransferStatus,
  start: Spawn,
): StreamProgram<Writable> {
  const child = start(script.path, [], { cwd: script.directory, env: spec.env, stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdout.setEncoding('utf8').on('data', (text: string) => status.log(text))
  return { stream: child.stdin, ended: ended(child, 'the import script', spec, status) }
}

/** Undefined without compression. */
export function compressor(
  spec: TransferSpec,
  status: TransferStatus,
  start: Spawn,
): StreamProgram<Duplex> | undefined {
  if (spec.compress === 'none') return undefined
  const [tool, ...args] = toolFor(spec.compress, spec.mode)
  const child = start(tool, args, { env: PLAIN_ENVIRONMENT, stdio: ['pipe', 'pipe', 'pipe'] })
  const stream = Duplex.from({ writable: child.stdin, readable: child.stdout })
  return { stream, ended: ended(child, `the compression tool ${tool}`, spec, status) }
}

/** As Ganeti calls them; an administrator's tool must only support `-d`. */
function toolFor(compress: string, mode: TransferSpec['mode']): [string, ...string[]] {
  const known = compress === 'lzop' || compress.startsWith('gzip')
  const tool = compress.startsWith('gzip-') ? 'gzip' : compress
  if (mode === 'import') return known ? [tool, '-d', '-c'] : [tool, '-d']
  if (!known) return [tool]
  return compress === 'gzip' || compress === 'gzip-fast' ? [tool, '-1', '-c'] : [tool, '-c']
}

function ended(child: ChildProcess, what: string, { log }: TransferSpec, status: TransferStatus): Promise<void> {
  let rest = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = (lines.pop() ?? '').slice(-1000)
    for (const line of lines) status.say(line)
  })
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new Error(`${what} cannot be started: ${error.message}`)))
    child.once('close', (code, signal) => {
      if (rest !== '') status.say(rest)
      const how = signal === null ? `exited with status ${code}` : `was ended by ${signal}`
      if (code === 0) resolve()
      else reject(new Error(`${what} ${how}; its log file is ${log}`))
    })
  })
}
