// `mon-collector`: one report of one collector of monitoring data.
import * as fs from 'node:fs'
import { diskstats } from '../../collectors/diskstats'
import { drbd } from '../../collectors/drbd'
import { instStatusXen } from '../../collectors/inst-status-xen'
import { lv } from '../../collectors/lv'
import { CollectorFailure, NotReadable, type NodeSources, type Report } from '../../collectors/report'
import { environmentPaths } from '../../lib/paths'
import { runCommand } from '../../lib/run-command'
import { PORT } from '../../model/constants/daemons'
import { ConfdClient } from '../../rpc/confd/client'
import { whyNot } from '../../lib/why-not'
import type { OptionSpec } from './option-table'
import { type Parsed, numberOf, parseWith, textOf } from './options'
import { Stop, type Terminal, failure } from './terminal'
import { COLLECTED_OUTPUT_BYTES_MAX } from '../../model/limits'

interface Command {
  readonly help: string
  readonly options: readonly OptionSpec[]
  /** What a shell may complete besides options. */
  readonly takes?: string
  collect(sources: NodeSources, options: Parsed): Report | Promise<Report>
}

const ADDRESS: OptionSpec = {
  long: 'address',
  short: 'a',
  arg: 'IP_ADDR',
  help: 'where confd listens',
  completes: 'file',
}
const ON_PORT: OptionSpec = {
  long: 'port',
  short: 'p',
  arg: 'PORT',
  help: 'the port that confd listens on',
  reads: ['reading port', 'whole'],
}
const readsFile = (long: string, short: string, help: string): OptionSpec => ({
  ...{ long, short, help, arg: 'FILE', completes: 'file' },
})
const FILE = readsFile('file', 'f', 'read this file and not the real thing')
const TAKES = 'file 0 0\n'
const COMMON: readonly OptionSpec[] = [
  { long: 'version', short: 'V', help: 'show the version' },
  { long: 'help', short: 'h', help: 'show this help' },
  { long: 'help-completion', help: 'list the options for the completion of shells' },
]

const COMMANDS: Readonly<Record<string, Command>> = {
  diskstats: {
    help: 'what the kernel counts of each block device',
    options: [FILE],
    takes: TAKES,
    collect: (sources, options) => diskstats(sources, textOf(options, 'file')),
  },
  drbd: {
    help: 'how the mirrored disks are',
    options: [
      readsFile('drbd-status', 's', 'read the status from this file'),
      readsFile('drbd-pairing', 'p', 'read from this file whose the minors are'),
    ],
    takes: TAKES,
    collect: (sources, options) =>
      drbd(sources, { status: textOf(options, 'drbd-status'), pairing: textOf(options, 'drbd-pairing') }),
  },
  'inst-status-xen': {
    help: 'whether the instances are as they should be',
    options: [ADDRESS, ON_PORT],
    collect: (sources) => instStatusXen(sources, environmentPaths().instanceReasonDir),
  },
  lv: {
    help: 'the logical volumes',
    options: [FILE, ADDRESS, ON_PORT, readsFile('instances', 'i', 'read the instances from this file')],
    takes: TAKES,
    collect: (sources, options) =>
      lv(sources, { volumes: textOf(options, 'file'), instances: textOf(options, 'instances') }),
  },
}

export async function monCollector([name = '', ...args]: readonly string[], terminal: Terminal): Promise<number> {
  if (['--version', '-V'].includes(name)) parseWith('mon-collector', COMMON, [name])
  if (name === '--help-completion') throw new Stop(0, `choices=${Object.keys(COMMANDS).join(',')} 1 1\n`)
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined) throw new Stop(['--help', '-h'].includes(name) ? 0 : 1, usage())
  const options = parseWith(`mon-collector ${name}`, [...command.options, ...COMMON], args, command.takes)
  if (options.rest.length > 0) {
    throw failure(`This program takes exactly zero arguments, got '${options.rest.join(' ')}'`)
  }
  try {
    terminal.out(`${JSON.stringify(await command.collect(sourcesOf(options, terminal), options))}\n`)
    return 0
  } catch (error) {
    if (error instanceof NotReadable) throw new Stop(1, '', `mon-collector: ${error.message}\n`)
    throw error instanceof CollectorFailure ? failure(error.message) : error
  }
}

function usage(): string {
  const lines = Object.entries(COMMANDS).map(([name, { help }]) => ` ${name.padEnd(15)} - ${help}\n`)
  return `Usage: mon-collector {command} [options...]\n\nCommands:\n${lines.join('')}`
}

function sourcesOf(options: Parsed, terminal: Terminal): NodeSources {
  const { clock, read } = terminal
  const paths = environmentPaths()
  return {
    ...{ clock, read, hostname: paths.hostname },
    warn: (text) => terminal.err(`${text}\n`),
    async run(command) {
      const { code, stdout, stderr } = await runCommand(command, { maxOutput: COLLECTED_OUTPUT_BYTES_MAX })
      if (code === 0) return stdout
      throw new CollectorFailure(`running command: ${command[0]}: ${stderr.trim() || `it ended with ${code}`}`)
    },
    ask: (question, query) => confd(options, terminal).ask(question, query),
  }
}

function confd(options: Parsed, { clock, random }: Terminal): ConfdClient {
  const paths = environmentPaths()
  const address = textOf(options, 'address')
  const candidates = () => fs.readFileSync(paths.ssconf('master_candidates_ips'), 'utf8').split('\n')
  return new ConfdClient({
    ...{ clock, random, key: readKey(paths.hmacKey) },
    servers: address === undefined ? candidates().filter((line) => line !== '') : [address],
    port: numberOf(options, 'port') ?? PORT.confd,
  })
}

/** Without it this is no node of a cluster. */
function readKey(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch (error) {
    throw new NotReadable(whyNot(file, error, 'openBinaryFile'))
  }
}
