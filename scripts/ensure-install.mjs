// Runs before every build, and so before `npm start` and `npm test`: makes sure that the packages of the lock file are installed. It is
// plain Node without dependencies, because nothing is installed when it first runs.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const OLDEST_NODE = [20, 19]
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const packages = join(root, 'node_modules')
const stamp = join(packages, '.gantry-install')

checkNode()
installWhenTheLockChanged()

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const [oldestMajor, oldestMinor] = OLDEST_NODE
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return
  fail(`Gantry needs Node ${OLDEST_NODE.join('.')} or newer; this is ${process.versions.node} (${process.execPath}).`)
}

function installWhenTheLockChanged() {
  // The link of a git worktree: npm would empty the other folder, and replace the link.
  if (lstatSync(packages, { throwIfNoEntry: false })?.isSymbolicLink()) return
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  if (wanted === readOrNothing(stamp)) return
  process.stderr.write('Installing the packages of package-lock.json (only when it changed) ...\n')
  // `--include=dev` is needed because with NODE_ENV=production npm would leave out the compiler.
  runNpm(['ci', '--include=dev', '--no-audit', '--no-fund'])
  // Written last, so that an interrupted install is repeated.
  writeFileSync(stamp, wanted)
  process.stderr.write('Installed.\n')
}

function runNpm(args) {
  // npm names its own program in npm_execpath, so that the same npm is used even if it is not in PATH.
  const npm = process.env.npm_execpath
  const [program, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []]
  const done = spawnSync(program, [...first, ...args], { cwd: root, stdio: ['ignore', 2, 2] })
  if (done.error) fail(`Cannot run npm: ${done.error.message}. Install npm, which comes with Node.`)
  if (done.status !== 0)
    fail(`npm ${args.join(' ')} failed (${done.signal ?? `exit ${done.status}`}): see its lines above.`)
}

function readOrNothing(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
