// An embedded cluster of its own for the time of a measurement: started as a user starts it, and removed without a trace.
import { type ChildProcess, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { performance } from 'node:perf_hooks'
import { findInstalledDist } from './dist'
import type { AskedNode } from './processes'
import type { RapiTarget } from './rapi-load'

const START_MS = 180_000
const running = new Set<Running>()
let stopping = false

/** Noted from the first moment on, because Ctrl-C may come while a cluster starts. */
interface Running {
  readonly child: ChildProcess
  readonly root: string
}

export class BenchCluster {
  private constructor(
    private readonly running: Running,
    readonly luxiSocket: string,
    readonly rapi: RapiTarget,
    /** From the command to the line `ready:`. */
    readonly start_ms: number,
  ) {}

  static async start(root: string, options: readonly string[]): Promise<BenchCluster> {
    if (stopping) throw new Error('stopped')
    const begun = performance.now()
    const child = spawn(
      process.execPath,
      [...profiling(), path.join(findInstalledDist(), 'main.js'), 'embedded', '--root', root, ...options],
      // GANTRY_HOME keeps the pointer to the running cluster out of the user's way; its own group keeps Ctrl-C for us.
      { stdio: ['ignore', 'pipe', 'inherit'], detached: true, env: { ...process.env, GANTRY_HOME: root } },
    )
    const entry = { child, root }
    running.add(entry)
    const ready = await readyLine(child)
    const start_ms = performance.now() - begun
    const [, address = '', socket = ''] = /^ready: https:\/\/(\S+) luxi=(\S+)/m.exec(ready) ?? []
    const [host = '', port = ''] = address.split(':')
    const password = fs.readFileSync(path.join(root, 'admin-password'), 'utf8').trim()
    return new BenchCluster(entry, socket, { host, port: Number(port), user: 'admin', password }, start_ms)
  }

  get root(): string {
    return this.running.root
  }

  get pid(): number {
    return this.running.child.pid ?? 0
  }

  get firstNode(): AskedNode {
    const name = 'node1.gantry.local'
    const keyFile = path.join(this.root, name, 'var/lib/ganeti/hmac.key')
    return { name, keyFile, address: this.rapi.host.replace(/\d+$/, '1'), parent: this.pid }
  }

  async stop(remove = true): Promise<void> {
    await end(this.running)
    if (remove) fs.rmSync(this.running.root, { recursive: true, force: true })
  }
}

async function end(entry: Running): Promise<void> {
  const { child } = entry
  if (child.exitCode === null && child.signalCode === null) {
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await gone
  }
  running.delete(entry)
}

/** For Ctrl-C: ends all clusters, and lets no new one start. */
export async function stopAllClusters(): Promise<void> {
  stopping = true
  await Promise.all([...running].map(end))
}

/** BENCH_NODE_OPTIONS=--cpu-prof and the like reach all daemons of the cluster. */
function profiling(): string[] {
  return (process.env['BENCH_NODE_OPTIONS'] ?? '').split(' ').filter((option) => option !== '')
}

function readyLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = ''
    const timer = setTimeout(() => {
      child.kill('SIGTERM')
      reject(new Error(`the cluster was not ready within ${START_MS / 1000} s:\n${received}`))
    }, START_MS)
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      received += text
      if (!/^ready: .*\n/m.test(received)) return
      clearTimeout(timer)
      resolve(received)
    })
    child.once('exit', (code) => {
      clearTimeout(timer)
      reject(new Error(`the cluster ended while it started (${code}):\n${received}`))
    })
  })
}
