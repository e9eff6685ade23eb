// `npm start`: builds, then runs the program. Help needs no build. If the cluster already runs, which the former build can tell, it builds nothing.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const args = process.argv.slice(2)

if (args.some((word) => word === '--help' || word === '-h')) {
  const { USAGE } = await import(`data:text/javascript,${encodeURIComponent(usageModule())}`)
  process.stdout.write(USAGE)
  process.exit()
}
await refuseWhatRuns()
console.log('Building ...')
const { status, error } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' })
if (error) process.stderr.write(`npm start: npm cannot be run: ${error.message}\n`)
if (status !== 0) process.exit(1)
const program = require.resolve('../bin/gantryd.js')
process.argv = [process.execPath, program, 'embedded', ...args]
require(program)

/** It is JavaScript, too. */
function usageModule() {
  return readFileSync(require.resolve('../src/embedded/usage.ts'), 'utf8')
}

async function refuseWhatRuns() {
  let options, refuseRunning
  try {
    options = require('../dist/embedded/options.js').readOptions(args)
    refuseRunning = require('../dist/embedded/membership.js').refuseRunning
  } catch {
    // Nothing is built yet, or the options are meant for the next build.
    return
  }
  if (options === 'help') return
  await refuseRunning(options.root).catch((error) => {
    process.stderr.write(`npm start: ${error.message}\n`)
    process.exit(1)
  })
}
