// `hbal` and the other allocation programs, distinguished by program name.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { runHtool } from './cli/htools/run'
import { systemClock } from './lib/clock'
import { inheritedEnvironment } from './lib/environment'
import { findLuxiSocket } from './lib/net/find-socket'
import { silentLog } from './lib/log'
import { environmentPaths } from './lib/paths'
import { systemRandom } from './lib/random'
import { readBounded } from './lib/file/read-bounded'
import { standardOutput } from './lib/programs/standard-output'
import { HTOOLS_FILE_BYTES_MAX } from './model/limits/htools'
import { LuxiClient } from './rpc/luxi/client'
import { errorText } from './lib/system-failure'

const called = path.basename(process.argv[1] ?? '').replace(/\.js$/, '')
const output = standardOutput({ program: called })
const code = runHtool(inheritedEnvironment().HTOOLS ?? called, process.argv.slice(2), {
  clock: systemClock,
  random: systemRandom,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  read: (file) => readBounded(file === '-' ? 0 : file, HTOOLS_FILE_BYTES_MAX),
  write: (file, text) => fs.writeFileSync(file, text),
  connect: (socket) => new LuxiClient({ clock: systemClock, path: socket ? socket : findLuxiSocket().path }),
  node: async () => (await import('./start/node-sources.js')).openNodeSources(environmentPaths(), silentLog),
  interruption(tell) {
    let requested = false
    const leave = () => {
      // Written synchronously: the process ends before a pipe would take it.
      fs.writeSync(1, 'Double cancel request, exiting now...\n')
      process.exit(2)
    }
    process.on('SIGINT', () => {
      if (requested) leave()
      requested = true
      tell()
    })
    process.on('SIGTERM', leave)
    return () => requested
  },
})
void Promise.resolve(code).then(output.finish, (error: unknown) => {
  process.stderr.write(`Error: ${errorText(error)}\n`)
  process.exit(1)
})
