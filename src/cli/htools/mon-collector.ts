// `mon-collector`: one report of one collector of monitoring data.
import * as fs from 'node:fs'
import { diskstats } from '../../collectors/diskstats'
import { drbd } from '../../collectors/drbd'
import { instStatusXen } from '../../collectors/inst-status-xen'
import { lv } from '../../collectors/lv'
import { CollectorFailure, type NodeSources, type Report } from '../../collectors/report'
import { environmentPaths } from '../../lib/paths'
import { runCommand } from '../../lib/run-command'
import { PORT } from '../../model/constants/daemons'
import { ConfdClient } from '../../rpc/confd/client'
import type { OptionSpec } from './option-table'
import { type Parsed, numberOf, parseWith, textOf } from './options'
import { Stop, type Terminal, failure } from './terminal'

interface Command {
  readonly help: string
  readonly options: readonly OptionSpec[]
  collect(sources: NodeSources, options: Parsed): Report | Promise<Report>
}

const ADDRESS: OptionSpec = { long: 'address', short: 'a', arg: 'IP_ADDR', help: 'where confd listens' }
const ON_PORT: OptionSpec = {
  long: 'port',
  short: 'p',
  arg: 'PORT',
  help: 'the port that confd listens on',
  reads: ['reading port', 'whole'],
}
const FILE: OptionSpec = { long: 'file', short: 'f', arg: 'FILE', help: 'read this file and not the real thing' }
const COMMON: readonly OptionSpec[] = [
  { long: 'version', short: 'V', help: 'show the version' },
  { long: 'help', short: 'h', help: 'show this help' },
]

const COMMANDS: Readonly<Record<string, Command>> = {
  diskstats: {
    help: 'what the kernel counts of each block device',
    options: [FILE],
    collect: (sources, options) => diskstats(sources, textOf(options, 'file')),
  },
  drbd: {
    help: 'how the mirrored disks are',
    options: [
      { long: 'drbd-status', short: 's', arg: 'FILE', help: 'read the status from this file' },
      { long: 'drbd-pairing', short: 'p', arg: 'FILE', help: 'read from this file whose the minors are' },
    ],
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
    options: [
      FILE,
      ADDRESS,
      ON_PORT,
      { long: 'instances', short: 'i', arg: 'FILE', help: 'read the instances from this file' },
    ],
    collect: (sources, options) =>
      lv(sources, { volumes: textOf(options, 'file'), instances: textOf(options, 'instances') }),
  },
}

export async function monCollector([name = '', ...args]: readonly string[], terminal: Terminal): Promise<number> {
  if (['--version', '-V'].includes(name)) parseWith('mon-collector', COMMON, [name])
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined) throw new Stop(['--help', '-h'].includes(name) ? 0 : 1, usage())
  const options = parseWith(`mon-collector ${name}`, [...command.options, ...COMMON], args)
  if (options.rest.length > 0) {
    throw failure(`This program takes exactly zero arguments, got '${options.rest.join(' ')}'`)
  }
  try {
    terminal.out(`${JSON.stringify(await command.collect(sourcesOf(options, terminal), options))}\n`)
    return 0
  } catch (error) {
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
      const { code, stdout, stderr } = await runCommand(command, { maxOutput: OUTPUT_BYTES_MAX })
      if (code === 0) return stdout
      throw new CollectorFailure(`running command: ${command[0]}: ${stderr.trim() || `it ended with ${code}`}`)
    },
    ask: (question, query) => confd(options, terminal).ask(question, query),
  }
}

const OUTPUT_BYTES_MAX = 64 << 20

function confd(options: Parsed, { clock, random }: Terminal): ConfdClient {
  const paths = environmentPaths()
  const address = textOf(options, 'address')
  const candidates = () => fs.readFileSync(paths.ssconf('master_candidates_ips'), 'utf8').split('\n')
  return new ConfdClient({
    ...{ clock, random, key: fs.readFileSync(paths.hmacKey, 'utf8') },
    servers: address === undefined ? candidates().filter((line) => line !== '') : [address],
    port: numberOf(options, 'port') ?? PORT.confd,
  })
}
