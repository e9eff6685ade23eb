// The life of a daemon's process: starts its role, reports that it is ready, and ends in order on SIGTERM, on SIGINT,
// or when its parent is gone.
import { systemClock } from '../lib/clock'
import { openFailure } from '../lib/file/lock'
import { checkLimits } from '../lib/programs/process-limits'
import { serviceManager } from '../lib/programs/service-manager'
import { isFull } from '../lib/disk'
import { errorText } from '../lib/system-failure'
import { EXIT } from '../model/constants/daemons'
import { PATH } from '../model/constants/paths'
import { SYSTEM_LIMITS } from '../model/limits/daemons'
import { ownedDisk as disk, ownedLockFile } from '../model/owners'
import { ROLES } from '../roles/table'
import { watchDefects } from './defects'
import { type Running, STAY, type Start, type Surroundings } from './start'

export async function serve(name: string, load: () => Promise<Start>, surroundings: Surroundings): Promise<void> {
  const { paths, log } = surroundings
  const manager = serviceManager()
  const losesNothing = ROLES.some((role) => role.name === name && 'losesNothing' in role)
  watchDefects({ process, log, losesNothing, end: () => process.exit(EXIT.failure) })
  // A daemon that must end while it starts has promised nothing yet, so it just exits.
  let end: (why: string) => void = () => process.exit(EXIT.failure)
  process.on('SIGTERM', () => end('SIGTERM'))
  process.on('SIGINT', () => end('SIGINT'))
  process.once('disconnect', () => stays || end('the parent is gone'))
  let stays = false
  process.on('message', (message) => void (stays ||= message === STAY))
  await disk.makeDirectory(paths.runDir)
  await beAlone(name, surroundings)
  const running = await begin(load, surroundings)
  await writePid(paths.pidFile(name), log)
  const figures = await tellFigures(name, running, surroundings)
  let ending = false
  end = (why) => {
    if (ending) return
    ending = true
    log.info({ why }, 'stopping')
    manager.stopping()
    figures?.close()
    running
      .close()
      .then(() => disk.remove(paths.pidFile(name)))
      .then(
        () => process.exit(EXIT.success),
        (error: unknown) => {
          log.error({ err: error }, 'did not stop cleanly')
          process.exit(EXIT.failure)
        },
      )
  }
  process.on('SIGHUP', () => running.reload?.())
  // A process ends when it only waits for signals and notifications: kvmd would, where no guest runs.
  void systemClock.sleep(Infinity)
  process.send?.({ ready: true })
  manager.ready()
}

/** Without room, a daemon that only answers questions is better than none. No file is better than a wrong one. */
async function writePid(file: string, log: Surroundings['log']): Promise<void> {
  try {
    await disk.write(file, `${process.pid}\n`, { mode: 0o644, durable: false })
  } catch (error) {
    if (!isFull(error)) throw error
    log.error({ err: error }, 'there is no room for the file with the number of this process')
    await disk.remove(file)
  }
}

/** Without this, a daemon works just as well. */
async function tellFigures(name: string, running: Running, { paths, log }: Surroundings) {
  if (running.tell === undefined) return undefined
  const { serveMetrics: serveFigures } = await import('../lib/self-metrics.js')
  return serveFigures(paths.figuresSocket(name), () => running.tell?.() ?? {}).catch((error: unknown) => {
    log.warn({ reason: errorText(error) }, 'the figures of this daemon are not available')
    return undefined
  })
}

/** Two daemons on the same files would destroy them. The kernel releases the lock when this process ends. */
async function beAlone(name: string, { paths, log }: Surroundings): Promise<void> {
  const file = paths.roleLock(name)
  if ((await ownedLockFile(file, 'exclusive')) !== undefined) return
  const failure = openFailure(file)
  const text =
    failure === undefined
      ? `another ${name} has locked ${file}, or gantryd fold has: stop it, or wait for its end`
      : `${name} cannot lock ${file}: ${failure}. As root, ${PATH.ENSURE_DIRS} gives it its owner and mode`
  log.error({ file }, text)
  process.stderr.write(`${text}\n`)
  process.exit(EXIT.failure)
}

async function begin(load: () => Promise<Start>, surroundings: Surroundings): Promise<Running> {
  const { log } = surroundings
  try {
    for (const warning of checkLimits(SYSTEM_LIMITS)) log.warn(warning)
    return await (
      await load()
    )(surroundings)
  } catch (error) {
    log.error({ err: error }, 'cannot start')
    process.stderr.write(`${errorText(error)}\n`)
    return process.exit(error instanceof Error && 'exitCode' in error ? Number(error.exitCode) : EXIT.failure)
  }
}
