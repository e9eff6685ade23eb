// `gnt`, `gnt-instance` and the others, distinguished by program name: the command line of this machine's cluster. It
// loads only what every command needs, because loading takes most of a short command's time.
import { errorText } from './lib/system-failure'
import { existsSync, openSync } from 'node:fs'
import * as path from 'node:path'
import { ReadStream } from 'node:tty'
import { CommandFailure, refusal } from './cli/outcome'
import type { NewNode, ThisNode } from './cli/command'
import type { Terminal } from './cli/output/terminal'
import { runProgram } from './cli/program'
import { inheritedEnvironment } from './lib/environment'
import { systemClock } from './lib/clock'
import { becomeNode, findLuxiSocket, masterElsewhere, nodeSetupSocket, thisNodePaths } from './lib/net/find-socket'
import { takeOwnUmask } from './lib/programs/umask'
import { standardOutput } from './lib/programs/standard-output'

takeOwnUmask()
/** The job that is being waited for. */
let followed: number | undefined

function openTerminal(): ReadStream | undefined {
  try {
    return new ReadStream(openSync('/dev/tty', 'r+'))
  } catch {
    return undefined
  }
}

const terminal: Terminal = {
  out: (line) => void process.stdout.write(`${line}\n`),
  err: (line) => void process.stderr.write(`${line}\n`),
  following: (job) => void (followed = job),
  // As Ganeti, asks at the terminal itself: standard input and output may be pipes.
  async ask(question, choices, answeredBy) {
    const tty = openTerminal()
    if (tty === undefined) {
      terminal.err(`${question}\nNo: there is no terminal to ask on; ${answeredBy} answers beforehand.`)
      return undefined
    }
    const letters = Object.keys(choices)
    const readline = await import('node:readline/promises')
    const prompt = readline.createInterface({ input: tty, output: tty })
    const last = letters.at(-1) ?? ''
    const line = `${question}\n${[...letters.slice(0, -1), `[${last}]`, '?'].join('/')}: `
    const gone = new Promise<undefined>((resolve) => prompt.once('close', () => resolve(undefined)))
    try {
      for (;;) {
        const answer = await Promise.race([prompt.question(line), gone])
        if (answer === undefined) return last
        const word = answer.trim().toLowerCase()
        // A word is recognized by its first letter, a number by all its digits.
        const letter = /^\d/.test(word) ? word : word.slice(0, 1)
        if (letters.includes(letter)) return letter
        if (letter === '?') for (const [key, meaning] of Object.entries(choices)) tty.write(` ${key} - ${meaning}\n`)
      }
    } finally {
      prompt.close()
      tty.destroy()
    }
  },
  async live() {
    const { Picture } = await import('./cli/output/picture.js')
    const { stdout } = process
    const picture = new Picture({
      isTerminal: stdout.isTTY,
      size: () => ({ columns: stdout.columns, rows: stdout.rows }),
      write: (text) => void stdout.write(text),
    })
    const stop = new AbortController()
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
      process.removeAllListeners(signal).on(signal, () => stop.abort())
    return { picture, interrupted: stop.signal }
  },
  async hand(command) {
    const [program = '', ...args] = command
    const { spawn } = await import('node:child_process')
    // Keys such as Ctrl-C are for the other program now.
    process.removeAllListeners('SIGINT').on('SIGINT', () => undefined)
    return new Promise((resolve, reject) => {
      const child = spawn(program, args, { stdio: 'inherit' })
      child.on('error', reject)
      child.on('close', (code) => resolve(code ?? 1))
    })
  },
}

/** Asks the parent of an embedded cluster's nodes. */
const prepareNode = (path: string) => async (name: string) => {
  const [{ JsonClient }, { NODE_SETUP_S }] = await Promise.all([
    import('./rpc/json-protocol.js'),
    import('./model/limits/embedded.js'),
  ])
  const client = new JsonClient({ path, clock: systemClock, peer: 'npm start' })
  const node = await client.call('prepareNode', [name], NODE_SETUP_S).finally(() => client.close())
  if (typeof node === 'object' && node !== null && 'name' in node && 'address' in node)
    return { name: String(node.name), address: String(node.address) }
  throw new CommandFailure('npm start prepared no node')
}

/** Few commands start programs, so the code for it is loaded only for them. */
function machine() {
  const { thisMachine }: typeof import('./lib/machine') = require('./lib/machine')
  return thisMachine
}

function connect() {
  const { LuxiClient }: typeof import('./rpc/luxi/client') = require('./rpc/luxi/client')
  const socket = orFailure(findLuxiSocket)
  const elsewhere = masterElsewhere(socket.path)
  if (elsewhere !== undefined)
    throw refusal(`This is not the master node, please connect to node '${elsewhere}' and rerun the command`)
  const onRestart = (patience_s: number) =>
    terminal.err(`the master daemon (luxid) does not answer; trying for ${patience_s} s`)
  const master = new LuxiClient({ path: socket.path, clock: systemClock, onRestart })
  const { nodesRoot } = socket
  const setup = nodesRoot === undefined ? undefined : nodeSetupSocket(nodesRoot)
  const embedded = setup !== undefined && existsSync(setup)
  return { master, nodesRoot, prepareNode: embedded ? prepareNode(setup) : undefined }
}

async function thisNode(): Promise<ThisNode> {
  const [{ openNodeClient }, { createLog }, { ownedDisk, ownedLockFile, ownedLogFile }, { systemRandom }, back] =
    await Promise.all([
      import('./rpc/node/client.js'),
      import('./lib/log.js'),
      import('./model/owners.js'),
      import('./lib/random.js'),
      import('./node/hypervisor/index.js'),
    ])
  const paths = orFailure(thisNodePaths)
  const log = createLog('commands', { file: ownedLogFile(paths.logFile('commands')) })
  return {
    paths,
    disk: ownedDisk,
    random: systemRandom,
    log,
    lockFile: ownedLockFile,
    nodes: openNodeClient({ paths, clock: systemClock, files: machine().files }),
    hypervisors: Object.keys(back.hypervisors),
  }
}

/** The layers for nodes and operations, for the only command that begins without a master. */
async function newNode(): Promise<NewNode> {
  const [
    { firstFields },
    { volumeGroups },
    { checkFileStoragePath },
    { missingPrograms },
    { requireKernel },
    clocks,
    { ownedDisk },
    { systemRandom },
  ] = await Promise.all([
    import('./operations/cluster/set-params/first-fields.js'),
    import('./node/storage/lvm/units.js'),
    import('./node/storage/allowed-paths.js'),
    import('./node/storage/programs.js'),
    import('./node/storage/drbd/kernel.js'),
    import('./lib/clock.js'),
    import('./model/owners.js'),
    import('./lib/random.js'),
  ])
  const { files, run, networkInterfaces } = machine()
  const paths = orFailure(thisNodePaths)
  const masterFile = async (file: string) => (await ownedDisk.read(paths.local(file)))?.toString('utf8')
  const context = { now_s: clocks.seconds(clocks.systemClock), random: systemRandom, masterFile }
  return {
    ...{ paths, files, run, networkInterfaces, disk: ownedDisk, random: systemRandom },
    volumeGroups: () => volumeGroups(run),
    missingPrograms: (programs) => missingPrograms(files, programs),
    requireDrbd: () => requireKernel({ files, hostname: paths.hostname }).catch(asFailure),
    storageDirectory: (directory) => checkFileStoragePath({ paths, files }, directory).catch(asFailure),
    firstFields: (given, ipVersion) => firstFields(given, context, ipVersion),
  }
}

function orFailure<T>(find: () => T): T {
  try {
    return find()
  } catch (error) {
    return asFailure(error)
  }
}

function asFailure(error: unknown): never {
  throw new CommandFailure(errorText(error))
}

/** `gnt --node NAME ...` runs the rest on that node. */
function withoutNode(words: readonly string[]): readonly string[] {
  if (program !== 'gnt' || words[0] !== '--node') return words
  const [, name = '', ...rest] = words
  try {
    becomeNode(name)
  } catch (error) {
    terminal.err(`gnt: ${errorText(error)}`)
    process.exit(1)
  }
  return rest
}

process.on('SIGINT', () => {
  const jobs = 'gnt-job list shows jobs, gnt-job watch follows one, gnt-job cancel stops it'
  if (followed === undefined) terminal.err(`Aborted. What was submitted goes on: ${jobs}.`)
  else terminal.err(`Aborted. Job ${followed} goes on: ${jobs}.`)
  process.exit(1)
})

const program = path.basename(process.argv[1] ?? 'gnt').replace(/\.js$/, '')
// A user who interrupts the wait does not learn how the job ended.
const output = standardOutput({ program, quietCode: () => (followed === undefined ? 0 : 1) })
const words = withoutNode(process.argv.slice(2))
void runProgram(program, words, {
  ...{ terminal, connect, thisNode, newNode, machine, clock: systemClock },
  variables: inheritedEnvironment(),
}).then(output.finish)
