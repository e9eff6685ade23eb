// The simulation as a program of one file, in processes of their own: within jest a seed takes ten times as long.
import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'esbuild'
import type { SeedRun, Simulated } from './run-seeds'

const DRIVERS = path.join(__dirname, 'sim-drivers.ts')
const SOCKETS = path.join(__dirname, 'sim-sockets.ts')
/**
 * Most memory lives for a moment only, and there is one thread to do everything: this halves the time. Little code is hot, so quick compiling
 * gains more than good compiling.
 */
const FLAGS = [
  ...['--max-semi-space-size=64', '--single-threaded-gc'],
  ...['--always-sparkplug', '--no-flush-bytecode', '--interrupt-budget=400000'],
]

/** The command that runs one seed alone. */
export const howToRepeat = (what: Simulated, seed: number): string =>
  `SIM_SEED=${seed} npx jest test/simulation -t '${what === 'mirror' ? 'mirrored disk' : 'promised'}'`

export class Simulation {
  private constructor(private readonly folder: string) {}

  static async compile(): Promise<Simulation> {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'simulation-'))
    await build({
      entryPoints: [path.join(__dirname, 'run-seeds.ts')],
      outfile: path.join(folder, 'simulation.js'),
      ...{ bundle: true, platform: 'node', target: 'node20', logLevel: 'silent', sourcemap: 'inline' },
      supported: { 'dynamic-import': false },
      plugins: [
        {
          name: 'simulated sockets and disks',
          setup({ onResolve }) {
            onResolve({ filter: /^\.\/registry$/ }, ({ importer }) =>
              importer.endsWith('/node/storage/disks.ts') ? { path: DRIVERS } : undefined,
            )
            // No simulated process speaks with text-call.ts, which needs a real socket.
            onResolve({ filter: /\/lib\/net\/json-socket$/ }, ({ importer }) =>
              importer.endsWith('/text-call.ts') ? undefined : { path: SOCKETS },
            )
          },
        },
      ],
    })
    return new Simulation(folder)
  }

  /** Runs the seeds in order; each result comes as soon as it is there. A program that ends early fails all that were still to come. */
  async *run(what: Simulated, first: number, count: number, tracing = false): AsyncGenerator<SeedRun> {
    const program = path.join(this.folder, 'simulation.js')
    const args = [...FLAGS, '--enable-source-maps', program, what, String(first), String(count), tracing ? '1' : '0']
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    const ended = new Promise<number | null>((resolve, reject) => child.on('close', resolve).on('error', reject))
    let errors = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-4000)))
    try {
      for await (const line of createInterface(child.stdout)) yield JSON.parse(line) as SeedRun
      const status = await ended
      if (status !== 0) throw new Error(`the simulation ended with ${status}: ${errors}`)
    } finally {
      child.kill('SIGKILL')
      await ended
    }
  }

  remove(): void {
    fs.rmSync(this.folder, { recursive: true })
  }
}
