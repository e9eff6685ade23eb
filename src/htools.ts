// `hbal` and the other programs of allocation, by the name they are called by.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { runHtool } from './cli/htools/run'
import { inheritedEnvironment } from './lib/environment'

// A reader that has seen enough, such as head, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(0)
})

const called = path.basename(process.argv[1] ?? '').replace(/\.js$/, '')
process.exitCode = runHtool(inheritedEnvironment().HTOOLS ?? called, process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  read: (file) => fs.readFileSync(file === '-' ? 0 : file, 'utf8'),
  write: (file, text) => fs.writeFileSync(file, text),
})
