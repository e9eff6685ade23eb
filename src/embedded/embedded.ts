// The cluster of `npm start`: virtual nodes on loopback addresses, each with its own process tree, in the foreground.
// It may use everything; nothing uses it.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { ChildFailure } from '../daemons/supervisor/child'
import { systemClock as clock } from '../lib/clock'
import { errorCode } from '../lib/disk'
import type { FramedServer } from '../lib/net/json-socket'
import { checkLimits, LimitTooLow } from '../lib/programs/process-limits'
import { takeOwnUmask } from '../lib/programs/umask'
import { GanetiError } from '../model/errors'
import { PORT } from '../model/constants/daemons'
import { SYSTEM_LIMITS } from '../model/limits/daemons'
import { EMBEDDED_PORTS_S } from '../model/limits/embedded'
import { create, planSettings } from './create'
import { type Settings, apiOf, checkRootLength, passwordFile, readSettings, writeSettings } from './layout'
import { lockRoot, withoutLeft } from './membership'
import { type EmbeddedOptions, UsageError, readOptions } from './options'
import { checkPorts, makeRoot } from './preflight'
import { guestNetwork } from './hypervisor-choice'
import { RunningCluster } from './running-cluster'
import { takeFilesOf } from './take-files'
import { USAGE } from './usage'
import { type Place, explain, printMessage, silenceMessages, startCommand, toReach } from './messages'

export async function runEmbedded(args: readonly string[], program: string): Promise<void> {
  let options: ReturnType<typeof readOptions> | undefined
  silenceMessages()
  try {
    options = readOptions(args)
    if (options === 'help') return printMessage(USAGE.trimEnd())
    await run(options, program)
  } catch (error) {
    const ours = [UsageError, GanetiError, ChildFailure, LimitTooLow].some((kind) => error instanceof kind)
    const known = ours || errorCode(error) !== undefined
    process.stderr.write(
      `npm start: ${known ? explain(error, typeof options === 'object' ? options.root : undefined) : error instanceof Error ? error.stack : String(error)}\n`,
    )
    process.exit(1)
  }
}

async function run(options: EmbeddedOptions, program: string): Promise<void> {
  const started_ms = clock.monotonic_ms()
  for (const warning of checkLimits(SYSTEM_LIMITS)) printMessage(`Warning: ${warning}`)
  checkRootLength(options.root, [])
  // A user whose umask keeps others out keeps them out of the whole folder.
  const isNew = makeRoot(options.root)
  takeOwnUmask()
  const running: { cluster?: RunningCluster } = {}
  const lock = await lockRoot(options.root, () => running.cluster?.prepareNode)
  const stopping = new AbortController()
  const stopSignal = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => {
        stopping.abort()
        resolve()
      })
  })
  const settings = await prepare(options).catch(async (error: unknown) => {
    await lock.close()
    if (isNew) await removeEmpty(options.root)
    throw error
  })
  const cluster = new RunningCluster(options, settings, program)
  running.cluster = cluster
  const started = cluster.start(stopping.signal)
  try {
    await Promise.race([started, stopSignal])
  } catch (error) {
    await cluster.stop()
    await lock.close()
    throw error
  }
  if (stopping.signal.aborted) started.catch(() => undefined)
  else await announce({ ...options, program }, settings, cluster.socket, (clock.monotonic_ms() - started_ms) / 1000)
  await stopSignal
  await cluster.stop()
  await finish(lock, options.root)
}

/** Removes the root folder that a refused start made. Keeps a folder with files, so that the user can look into it. */
const removeEmpty = (root: string): Promise<void> => fs.promises.rmdir(root).catch(() => undefined)

async function finish(lock: FramedServer, root: string): Promise<void> {
  await lock.close()
  printMessage(`stopped; "${startCommand(root)}" goes on where this was`)
  process.exit(0)
}

/** The settings of the existing cluster, or of a new one, which it makes. */
async function prepare(options: EmbeddedOptions): Promise<Settings> {
  const { root } = options
  if (options.reset) await removeCluster(root)
  const recorded = readSettings(root)
  if (recorded === undefined) {
    if (options.takeFiles !== undefined) throw new UsageError(`--take-files: there is no cluster in ${root}`)
    const settings = await planSettings(options, printMessage)
    await checkPorts(settings)
    await create(options, settings, printMessage)
    return settings
  }
  refuseChanges(options, recorded)
  const { settings: existing, left } = withoutLeft(root, recorded)
  if (left.length > 0) {
    printMessage(`${left.join(', ')} left the cluster`)
    await writeSettings(root, existing)
  }
  printMessage(
    `going on with the cluster in ${root} (hypervisor: ${existing.simulated ? 'simulated' : existing.hypervisor})`,
  )
  await portsAgain(existing)
  if (options.takeFiles !== undefined) await takeFilesOf(options.takeFiles, root, existing, printMessage)
  return existing
}

/** Daemons of a killed parent need a moment to notice it and end. */
async function portsAgain(settings: Settings): Promise<void> {
  const deadline_ms = clock.monotonic_ms() + EMBEDDED_PORTS_S * 1000
  for (let reported = false; ; reported = true) {
    try {
      return await checkPorts(settings, { parts: true })
    } catch {
      if (clock.monotonic_ms() > deadline_ms) return checkPorts(settings)
      if (!reported) printMessage('waiting for the daemons of a former start to end')
      await clock.sleep(200)
    }
  }
}

function refuseChanges({ root, nodes, baseAddress, hypervisor, state }: EmbeddedOptions, existing: Settings): void {
  const refuse = (option: string, now: unknown) => {
    throw new UsageError(
      `${option} is only for a new cluster, and the one in ${root} was made with ${String(now)}; add --reset to throw it away, ` +
        'or name another --root',
    )
  }
  if (state !== undefined) refuse('--state', existing.simulated ? 'a recorded state' : 'nodes of its own')
  if (nodes !== undefined && nodes !== existing.nodes.length) refuse('--nodes', existing.nodes.length)
  if (baseAddress !== undefined && baseAddress !== existing.baseAddress) refuse('--base-address', existing.baseAddress)
  if (hypervisor !== undefined && hypervisor !== existing.hypervisor) refuse('--hypervisor', existing.hypervisor)
}

/** Removes only our files: a folder named by mistake keeps its other files. */
async function removeCluster(root: string): Promise<void> {
  const settings = readSettings(root)
  const nodes = settings?.nodes.map(({ name }) => name) ?? []
  const own = [
    ...nodes,
    'shared',
    'mirrors',
    'cluster.json',
    'admin-password',
    'sim.json',
    'sim.sock',
    'recorded-config.data',
  ]
  if (settings !== undefined) printMessage(`throwing away the cluster in ${root}`)
  await Promise.all(own.map((name) => fs.promises.rm(path.join(root, name), { recursive: true, force: true })))
}

/**
 * Tells the user that the cluster runs. Commands are shown in full, so that they work in any terminal and folder,
 * whatever other clusters run.
 */
async function announce({ root, program }: Place, settings: Settings, socket: string, took_s: number): Promise<void> {
  const url = apiOf(settings)
  const master = settings.nodes[0]?.address
  const doors = `mond=http://${master}:${PORT.mond} confd=${master}:${PORT.confd}`
  const login = fs.existsSync(passwordFile(root))
    ? `user admin, password: ${passwordFile(root)}`
    : 'the users of the recorded cluster'
  const real = settings.hypervisor === 'kvm' && !settings.simulated
  const network = real ? `\n  networks     ${await guestNetwork()}` : ''
  printMessage(`
the cluster runs (after ${took_s.toFixed(1)} s)
  console      ${url}/ui/  (${login})
  remote API   ${url}/2/info
  documents    ${url}/docs
  files, logs  ${root}${network}

try in another terminal:
  ${toReach({ root, program })}
  gnt node list${
    settings.simulated
      ? ''
      : `
  gnt instance add -t sharedfile --disk 0:size=128m -o gantry-tiny -B memory=64m vm1
  gnt instance console vm1`
  }
  gnt instance list
  gnt cluster verify
Ctrl-C stops the cluster, "${startCommand(root)}" goes on with it.

ready: ${url} luxi=${socket} ${doors}`)
}
