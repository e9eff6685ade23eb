// A whole embedded cluster as its users start it: real processes, real sockets, own addresses and root.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import * as fs from 'node:fs'
import * as https from 'node:https'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemClock } from '../../src/lib/clock'
import { LuxiClient } from '../../src/rpc/luxi/client'
import type { Master } from '../../src/rpc/luxi/master'
import type { WireOpCode } from '../../src/rpc/luxi/calls'

const ENTRY = path.join(__dirname, '../../bin/gantryd.js')

export interface EmbeddedCluster {
  root: string
  /** The address of the cluster's remote API. */
  url: string
  /** The first node's. */
  address: string
  socket: string
  password: string
  master: Master
  /** Everything that was printed so far. */
  output(): string
  pid: number
  /** A request to the remote API as admin, as `user:password`, or as `Bearer TOKEN`. */
  rapi(method: string, resource: string, body?: unknown, user?: string): Promise<{ status: number; body: unknown }>
  /** Submits a job of one opcode and waits for its end. */
  run(op: WireOpCode): Promise<{ status: string; result: unknown; log: string[] }>
  /** Runs a command line tool against the cluster. */
  gnt(...args: string[]): Promise<CommandEnd>
  /** Like `gnt`, for tests that read the output before the command ends. */
  follow(...args: string[]): FollowedCommand
  /** SIGTERM, and waits. */
  stop(): Promise<number | null>
  /** Starts it again on the same root. */
  restart(...args: string[]): Promise<void>
  /** Stops it and removes its root. */
  remove(): Promise<void>
}

interface CommandEnd {
  code: number | null
  stdout: string
  stderr: string
}

interface FollowedCommand {
  /** Everything that the command has printed so far. */
  output(): string
  readonly ended: Promise<CommandEnd>
}

interface StartOptions {
  root?: string
  /** Words in front of each program's command, to run it in its own namespaces. */
  enter?: readonly string[]
  env?: Readonly<Record<string, string>>
}

export async function startCluster(args: readonly string[], options: StartOptions = {}): Promise<EmbeddedCluster> {
  const root = options.root ?? fs.mkdtempSync(path.join(os.tmpdir(), 'gt-'))
  const base = `127.${randomInt(16, 250)}.${randomInt(0, 256)}.0`
  let running = await launch(root, ['--base-address', base, ...args], options)
  const cluster = {
    root,
    get url() {
      return running.url
    },
    get address() {
      return new URL(running.url).hostname.replace(/\d+$/, '1')
    },
    get socket() {
      return running.socket
    },
    get pid() {
      return running.child.pid ?? 0
    },
    get password() {
      return fs.readFileSync(path.join(root, 'admin-password'), 'utf8').trim()
    },
    get master() {
      return running.master
    },
    output: () => running.output(),
    rapi: (method: string, resource: string, body?: unknown, user?: string) =>
      request(running.url, user ?? `admin:${cluster.password}`, method, resource, body),
    run: (op: WireOpCode) => runJob(running.master, op),
    gnt: (...words: string[]) => follow(running.socket, words, options.enter).ended,
    follow: (...words: string[]) => follow(running.socket, words, options.enter),
    stop: () => running.stop(),
    async restart(...more: string[]) {
      running = await launch(root, more, options)
    },
    async remove() {
      await running.stop()
      await removeTree(root)
    },
  }
  return cluster
}

/** A job process that is just being started may still open its log. It ends because luxid is gone. */
async function removeTree(root: string): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      return fs.rmSync(root, { recursive: true, force: true })
    } catch (error) {
      if (attempt === 20) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
}

interface Running {
  child: ChildProcess
  url: string
  socket: string
  master: LuxiClient
  output(): string
  stop(): Promise<number | null>
}

async function launch(root: string, args: readonly string[], { env = {}, enter = [] }: StartOptions): Promise<Running> {
  const [program = '', ...before]: readonly string[] = [...enter, process.execPath]
  const child = spawn(program, [...before, ENTRY, 'embedded', '--root', root, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // No other test may find this cluster's pointer for gnt.
    env: { ...process.env, GANTRY_HOME: root, ...env },
  })
  let output = ''
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  const ready = await new Promise<RegExpExecArray>((resolve, reject) => {
    const read = (chunk: string) => {
      output += chunk
      const match = /^ready: (\S+) luxi=(\S+)/m.exec(output)
      if (match) resolve(match)
    }
    child.stdout?.setEncoding('utf8').on('data', read)
    child.stderr?.setEncoding('utf8').on('data', read)
    void ended.then((code) => reject(new Error(`the cluster ended with ${code} before it was ready:\n${output}`)))
  })
  const socket = ready[2] ?? ''
  const master = new LuxiClient({ clock: systemClock, path: socket })
  return {
    ...{ child, socket, master },
    url: ready[1] ?? '',
    output: () => output,
    async stop() {
      master.close()
      child.kill('SIGTERM')
      return ended
    },
  }
}

function request(url: string, auth: string, method: string, resource: string, body: unknown) {
  return new Promise<{ status: number; body: unknown }>((resolve, reject) => {
    const text = body === undefined ? '' : JSON.stringify(body)
    const outgoing = https.request(
      new URL(resource, url),
      {
        ...{ method, rejectUnauthorized: false },
        ...(auth.startsWith('Bearer ') ? {} : { auth }),
        headers: { 'Content-Type': 'application/json', ...(auth.startsWith('Bearer ') && { Authorization: auth }) },
      },
      (response) => {
        let answer = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: parse(answer) }))
      },
    )
    outgoing.on('error', reject)
    outgoing.end(text)
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export async function runJob(master: Master, op: WireOpCode) {
  const id = await master.submitJob([{ reason: [], ...op }])
  let observed: unknown = null
  for (;;) {
    const change = await master.waitForJobChange(id, ['status', 'opresult', 'oplog'], observed, null, 30)
    if (change === 'nochange') continue
    observed = change[0]
    const [status, results, logs] = change[0] as [string, unknown[], [number, unknown, string, unknown][][]]
    if (!['success', 'error', 'canceled'].includes(status)) continue
    return { status, result: results[0], log: (logs[0] ?? []).map((entry) => String(entry[3])) }
  }
}

/** Told of any job that begins late, as it may on a busy machine. */
const WAITS = /^Job \d+ is waiting (in the queue|for its locks)\n/gm

function follow(socket: string, words: readonly string[], enter: readonly string[] = []): FollowedCommand {
  const bin = path.join(__dirname, '../../bin/gnt.js')
  const [program = '', ...before]: readonly string[] = [...enter, process.execPath]
  const child = spawn(program, [...before, bin, ...words], {
    env: { ...process.env, GANETI_LUXI_SOCKET: socket },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said.stdout += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (said.stderr += chunk))
  const ended = new Promise<CommandEnd>((resolve) =>
    child.once('close', (code) => resolve({ code, ...said, stderr: said.stderr.replace(WAITS, '') })),
  )
  return { output: () => said.stdout + said.stderr, ended }
}
