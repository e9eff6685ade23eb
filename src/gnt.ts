// `gnt`, and `gnt-instance` and the others by program name: the command line of the cluster on this machine.
import { spawn } from 'node:child_process'
import { existsSync, openSync } from 'node:fs'
import * as path from 'node:path'
import * as readline from 'node:readline/promises'
import { ReadStream } from 'node:tty'
import { runProgram } from './cli/program'
import { CommandFailure, type NewNode, type Terminal, type ThisNode } from './cli/command'
import { seconds, systemClock } from './lib/clock'
import { systemDisk } from './lib/disk'
import { inheritedEnvironment } from './lib/environment'
import { becomeNode, findLuxiSocket, nodeSetupSocket, thisNodePaths } from './lib/find-socket'
import { createLog } from './lib/log'
import { systemRandom } from './lib/random'
import { NODE_SETUP_S } from './model/limits'
import { JsonClient } from './rpc/json-protocol'
import { LuxiClient } from './rpc/luxi/client'

/** The job that is being waited for. */
let followed: number | undefined

const NOBODY = 'No: there is no terminal to ask on; an option such as --force answers beforehand.'

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
  // As in Ganeti the terminal itself is asked: what the program reads and writes may be pipes.
  async ask(question, choices) {
    const tty = openTerminal()
    if (tty === undefined) {
      terminal.err(`${question.split('\n')[0] ?? ''}\n${NOBODY}`)
      return undefined
    }
    const letters = Object.keys(choices)
    const prompt = readline.createInterface({ input: tty, output: tty })
    const last = letters.at(-1) ?? ''
    const line = `${question}\n${[...letters.slice(0, -1), `[${last}]`, '?'].join('/')}: `
    const gone = new Promise<undefined>((resolve) => prompt.once('close', () => resolve(undefined)))
    try {
      for (;;) {
        const answer = await Promise.race([prompt.question(line), gone])
        if (answer === undefined) return last
        const word = answer.trim().toLowerCase()
        // Of a word its first letter counts, of a number all digits.
        const letter = /^\d/.test(word) ? word : word.slice(0, 1)
        if (letters.includes(letter)) return letter
        if (letter === '?') for (const [key, meaning] of Object.entries(choices)) tty.write(` ${key} - ${meaning}\n`)
      }
    } finally {
      prompt.close()
      tty.destroy()
    }
  },
  hand(command) {
    const [program = '', ...args] = command
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
  const client = new JsonClient({ path, peer: 'npm start' })
  const node = await client.call('prepareNode', [name], NODE_SETUP_S).finally(() => client.close())
  if (typeof node === 'object' && node !== null && 'name' in node && 'address' in node)
    return { name: String(node.name), address: String(node.address) }
  throw new CommandFailure('npm start prepared no node')
}

function connect() {
  const socket = orFailure(findLuxiSocket)
  const onRestart = (patience_s: number) =>
    terminal.err(`the master daemon (luxid) does not answer; trying for ${patience_s} s`)
  const master = new LuxiClient({ path: socket.path, onRestart })
  const { nodesRoot } = socket
  const setup = nodesRoot === undefined ? undefined : nodeSetupSocket(nodesRoot)
  const embedded = setup !== undefined && existsSync(setup)
  return { master, nodesRoot, prepareNode: embedded ? prepareNode(setup) : undefined }
}

async function thisNode(): Promise<ThisNode> {
  const { openNodeClient } = await import('./rpc/node/client.js')
  const paths = orFailure(thisNodePaths)
  const log = createLog('commands', { file: paths.logFile('commands') })
  return { paths, disk: systemDisk, random: systemRandom, log, nodes: openNodeClient({ paths }) }
}

/** The layers that know nodes and operations, for the only command that begins before there is a master to ask. */
async function newNode(): Promise<NewNode> {
  const [{ firstFields }, { volumeGroups }, { checkFileStoragePath }] = await Promise.all([
    import('./operations/cluster/set-params/first-fields.js'),
    import('./node/storage/lvm.js'),
    import('./node/storage/allowed-paths.js'),
  ])
  const paths = orFailure(thisNodePaths)
  const masterFile = async (file: string) => (await systemDisk.read(paths.local(file)))?.toString('utf8')
  const context = { now_s: seconds(systemClock), random: systemRandom, masterFile }
  return {
    ...{ paths, disk: systemDisk, random: systemRandom, volumeGroups },
    storageDirectory: (directory) => orFailure(() => checkFileStoragePath(paths, directory)),
    firstFields: (given) => firstFields(given, context),
  }
}

function orFailure<T>(find: () => T): T {
  try {
    return find()
  } catch (error) {
    throw new CommandFailure(error instanceof Error ? error.message : String(error))
  }
}

/** `gnt --node NAME ...` runs the rest as on that node. */
function withoutNode(words: readonly string[]): readonly string[] {
  if (program !== 'gnt' || words[0] !== '--node') return words
  const [, name = '', ...rest] = words
  try {
    becomeNode(name)
  } catch (error) {
    terminal.err(`gnt: ${error instanceof Error ? error.message : String(error)}`)
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

// A reader that has seen enough, such as head, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(0)
})

const program = path.basename(process.argv[1] ?? 'gnt').replace(/\.js$/, '')
const words = withoutNode(process.argv.slice(2))
void runProgram(program, words, { terminal, connect, thisNode, newNode, variables: inheritedEnvironment() }).then(
  (code) => {
    process.exitCode = code
    // Output goes to a pipe in its own time; the idle connection must not keep the process.
    process.stdout.write('', () => process.exit())
  },
)
