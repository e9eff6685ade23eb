// `ganeti-watcher` and `ganeti-cleaner`, distinguished by program name.
import { spawn } from 'node:child_process'
import * as path from 'node:path'
import { completions, EndsNow, readCleanerCall, readWatcherCall, type WatcherCall } from './cli/watcher/programs'
import { systemClock as clock } from './lib/clock'
import { createLog } from './lib/log'
import { thisMachine } from './lib/machine'
import { environmentPaths } from './lib/paths'
import { takeOwnUmask } from './lib/programs/umask'
import { errorText } from './lib/system-failure'
import { certificateEnd_ms } from './lib/tls'
import { clean } from './maintenance/cleaner'
import { runWatcher } from './maintenance/watcher/watcher'
import { EXIT } from './model/constants/daemons'
import { ownedDisk as disk, ownedLockFile as lockFile, ownedLogFile } from './model/owners'
import { LuxiClient } from './rpc/luxi/client'
import { lookAfterDaemons, lookAfterNode } from './start/watcher-duties'

takeOwnUmask()

async function watch(args: readonly string[]): Promise<number> {
  const call = readWatcherCall(args)
  const paths = environmentPaths()
  const log = createLog('watcher', {
    ...(call.debug ? { level: 'debug' } : { file: ownedLogFile(paths.logFile('watcher')) }),
  })
  const master = new LuxiClient({ path: paths.socket('query'), clock })
  const { hostname } = paths
  const duties = { paths, log, clock, rapiIp: call.rapiIp }
  try {
    return await runWatcher(call, {
      ...{ disk, paths, clock, log, lockFile, hostname, master },
      lookAfterNode: () => lookAfterNode(duties),
      lookAfterDaemons: () => lookAfterDaemons(duties),
      startGroup: (uuid) => startGroup(uuid, call),
    })
  } finally {
    master.close()
  }
}

/** It survives this process. */
function startGroup(uuid: string, call: WatcherCall): void {
  const options = [
    ...[`--node-group=${uuid}`, `--why=${call.why}`],
    ...(call.ignorePause ? ['--ignore-pause'] : []),
    ...(call.verifyDisks ? [] : ['--no-verify-disks']),
    ...(call.strict ? [] : ['--no-strict']),
    ...(call.spare ? ['--spare'] : []),
  ]
  spawn(process.execPath, [process.argv[1] ?? '', ...options], { detached: true, stdio: 'ignore' }).unref()
}

async function run(program: string, args: readonly string[]): Promise<number> {
  if (args[0] === '--complete-words')
    throw new EndsNow(
      completions(program, args.slice(1))
        .map((word) => `${word}\n`)
        .join(''),
      EXIT.success,
    )
  if (program !== 'ganeti-cleaner') return watch(args)
  const part = readCleanerCall(args)
  await clean(part, {
    ...{ files: thisMachine.files, paths: environmentPaths(), clock, pid: process.pid, expiry_ms: certificateEnd_ms },
  })
  return EXIT.success
}

const called = path.basename(process.argv[1] ?? '').replace(/\.js$/, '')
run(called, process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    const ends = error instanceof EndsNow
    const text = ends ? error.text : `${called}: ${errorText(error)}\n`
    const stream = ends && error.exitCode === EXIT.success ? process.stdout : process.stderr
    stream.write(text, () => process.exit(ends ? error.exitCode : EXIT.failure))
  },
)
