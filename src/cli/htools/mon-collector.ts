// `mon-collector`: one report of one collector of monitoring data.
import { COLLECTORS } from '../../collectors/registry'
import { type Collector, CollectorFailure, NotReadable, type NodeSources, reportOf } from '../../collectors/report'
import { environmentPaths } from '../../lib/paths'
import { PORT } from '../../model/constants/daemons'
import { ConfdClient, type ConfdOptions } from '../../rpc/confd/client'
import { clocksOf } from '../../rpc/confd/clocks'
import { whyNot } from '../../lib/text/why-not'
import type { OptionSpec } from './option-table'
import { type Parsed, numberOf, parseWith, textOf } from './options'
import { Stop, type Context, failure } from './context'

/** Options for confd's address, for collectors that ask it. */
const CONFD_OPTIONS: readonly OptionSpec[] = [
  { long: 'address', short: 'a', arg: 'IP_ADDR', help: 'where confd listens', completes: 'file' },
  { long: 'port', short: 'p', arg: 'PORT', help: 'the port that confd listens on', reads: ['reading port', 'whole'] },
]
const COMMON: readonly OptionSpec[] = [
  { long: 'version', short: 'V', help: 'show the version' },
  { long: 'help', short: 'h', help: 'show this help' },
  { long: 'help-completion', help: 'list the options for the completion of shells' },
]

const byName = new Map<string, Collector>(COLLECTORS.map((collector) => [collector.name, collector]))

export async function monCollector([name = '', ...args]: readonly string[], surroundings: Context): Promise<number> {
  if (['--version', '-V'].includes(name)) parseWith('mon-collector', COMMON, [name])
  if (name === '--help-completion') throw new Stop(0, `choices=${[...byName.keys()].join(',')} 1 1\n`)
  const collector = byName.get(name)
  if (collector === undefined) throw new Stop(['--help', '-h'].includes(name) ? 0 : 1, usage())
  const takes = collector.inputs === undefined ? undefined : 'file 0 0\n'
  const options = parseWith(`mon-collector ${name}`, [...optionsOf(collector), ...COMMON], args, takes)
  if (options.rest.length > 0) {
    throw failure(`This program takes exactly zero arguments, got '${options.rest.join(' ')}'`)
  }
  try {
    const inputs = Object.keys(collector.inputs ?? {}).map((input) => [input, textOf(options, input)] as const)
    const data = await collector
      .open(sourcesOf(options, surroundings, await surroundings.node?.()), Object.fromEntries(inputs))
      .collect()
    surroundings.out(`${JSON.stringify(reportOf(collector, surroundings.clock, data))}\n`)
    return 0
  } catch (error) {
    if (error instanceof NotReadable) throw new Stop(1, '', `mon-collector: ${error.message}\n`)
    throw error instanceof CollectorFailure ? failure(error.message) : error
  }
}

function optionsOf({ inputs = {}, asksConfd }: Collector): OptionSpec[] {
  const files = Object.entries(inputs).map(([long, { short, help }]): OptionSpec => ({
    long,
    short,
    help,
    arg: 'FILE',
    completes: 'file',
  }))
  return asksConfd === true ? [...files, ...CONFD_OPTIONS] : files
}

const WIDTH = Math.max(15, ...COLLECTORS.map(({ name }) => name.length))

function usage(): string {
  const lines = COLLECTORS.map(({ name, help }) => ` ${name.padEnd(WIDTH)} - ${help}\n`)
  return `Usage: mon-collector {command} [options...]\n\nCommands:\n${lines.join('')}`
}

type Node = Awaited<ReturnType<NonNullable<Context['node']>>>

const nowhere = () => Promise.reject(new CollectorFailure('this program cannot look at the node'))
const NO_NODE: Node = {
  ...{ read: nowhere, list: nowhere, stat: nowhere, whyUnsafe: nowhere, room: nowhere, run: nowhere },
  backEnd: () => ({ allInfo: nowhere, nodeInfo: nowhere }),
}

function sourcesOf(options: Parsed, surroundings: Context, node: Node = NO_NODE): NodeSources {
  const { clock, read } = surroundings
  const paths = environmentPaths()
  return {
    ...{ ...node, clock, paths, hostname: paths.hostname },
    // The async wrapper turns an error while reading into a rejection, like later errors.
    read: async (file) => read(file),
    warn: (text) => surroundings.err(`${text}\n`),
    ask: (question, query) => new ConfdClient(confd(options, surroundings)).ask(question, query),
    candidateClocks: async () => clocksOf(confd(options, surroundings)),
  }
}

function confd(options: Parsed, { clock, random, read, err }: Context): ConfdOptions {
  const paths = environmentPaths()
  const address = textOf(options, 'address')
  const candidates = () => read(paths.ssconf('master_candidates_ips')).split('\n')
  return {
    ...{ clock, random, key: readKey(read, paths.hmacKey), warn: (text) => err(`${text}\n`) },
    servers: address === undefined ? candidates().filter((line) => line !== '') : [address],
    port: numberOf(options, 'port') ?? PORT.confd,
  }
}

/** Without the key this is no node of a cluster. */
function readKey(read: Context['read'], file: string): string {
  try {
    return read(file)
  } catch (error) {
    throw new NotReadable(whyNot(file, error, 'openBinaryFile'))
  }
}
