// A place of their own for the daemons of storage: a network in which only loopback is, and private /run and /etc of theirs. Whatever is started
// there dies with the test, however that ends.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'

const DYING = ['setpriv', '--pdeathsig', 'KILL', '--']

export interface Ran {
  readonly code: number | null
  readonly output: string
}

export class Sandbox {
  readonly folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gs-'))
  private readonly daemons: ChildProcess[] = []
  private readonly keeper: ChildProcess

  /** Each of these directories is empty there. */
  constructor(directories: readonly string[]) {
    const ready = this.file('ready')
    const mounts = directories.map(
      (directory) => `mkdir -p ${directory} && mount -t tmpfs -o mode=755 own ${directory}`,
    )
    const line = ['ip link set lo up', ...mounts, `touch ${ready}`, 'exec sleep infinity'].join(' && ')
    const [program = '', ...words]: readonly string[] = [...DYING, 'unshare', '-m', '-n', 'sh', '-c', line]
    this.keeper = spawn(program, words, { stdio: 'ignore' })
    while (!fs.existsSync(ready)) {
      if (this.keeper.exitCode !== null) throw new Error('no namespaces of its own can be made here')
      execFileSync('sleep', ['0.02'])
    }
  }

  get pid(): number {
    return this.keeper.pid ?? 0
  }

  file(name: string): string {
    return path.join(this.folder, name)
  }

  /** The words before those of a program that is to run there. */
  get enter(): readonly string[] {
    return [...DYING, 'nsenter', '-t', String(this.pid), '-m', '-n', '--']
  }

  /** Goes on until it is ended. */
  daemon(...words: string[]): ChildProcess {
    const [program = '', ...args] = [...this.enter, ...words]
    const log = fs.openSync(this.file('daemons.log'), 'a')
    const child = spawn(program, args, { stdio: ['ignore', log, log] })
    fs.closeSync(log)
    this.daemons.push(child)
    return child
  }

  run(words: readonly string[], patience_s = 60): Promise<Ran> {
    const [program = '', ...args] = [...this.enter, ...words]
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: patience_s * 1000, killSignal: 'SIGKILL' }) // prettier-ignore
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    return new Promise((resolve, reject) =>
      child.once('close', (code) => resolve({ code, output })).once('error', reject),
    )
  }

  /** What it printed. */
  async order(...words: string[]): Promise<string> {
    const { code, output } = await this.run(words)
    if (code === 0) return output
    throw new Error(`${words.join(' ')} ended with ${code}: ${output}`)
  }

  async end(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const closed = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await closed
  }

  /** As when the machine loses its power. What daemons have started beside themselves, as glusterd does, is in the same namespace. */
  endAll(): void {
    const place = (pid: string): string | undefined => {
      try {
        return fs.readlinkSync(`/proc/${pid}/ns/mnt`)
      } catch {
        return undefined
      }
    }
    const own = place(String(this.pid))
    const pids = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== this.pid)
    for (const pid of own === undefined ? [] : pids)
      if (place(pid) === own) execFileSync('sh', ['-c', `kill -9 ${pid} || true`], { stdio: 'ignore' })
  }

  async remove(): Promise<void> {
    for (const daemon of this.daemons.toReversed()) await this.end(daemon)
    this.endAll()
    await this.end(this.keeper)
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
}

export async function until(what: string, patience_s: number, is: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + patience_s * 1000
  while (!(await is())) {
    if (Date.now() > end) throw new Error(`${what}: not within ${patience_s} s`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
