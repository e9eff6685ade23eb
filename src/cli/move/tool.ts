// move-instance: moves instances from one cluster to another, over the remote APIs of both.
import { eachBounded } from '../../lib/work/bounded'
import { errorText } from '../../lib/system-failure'
import { MAX_NICS } from '../../model/constants/params'
import { OPPORTUNISTIC_DELAY_S } from '../../model/limits/move'
import { openRapi, type Rapi, type RapiAccess } from '../../rpc/rapi/client'
import { many, type Call, type Command, type Tool } from '../command'
import { backendParams, byIndex, hypervisorParams, nicValues } from '../input/params'
import { oBackendParameters, oCompress, oIallocator, oNet, oOsParameters, oVerbose } from '../input/options'
import { oHvparams } from '../instance/options'
import { CommandFailure, EXIT, UsageError } from '../outcome'
import type { Changes } from './creation'
import { moveInstance, type Move } from './move'
import { MOVE_OPTIONS } from './options'
import { RemoteCluster } from './remote-cluster'

export type OpenRapi = (access: RapiAccess, clock: Call['clock']) => Rapi

const moveCommand = (open: OpenRapi): Command => ({
  name: '',
  help: 'move instances to another cluster; both must have the same cluster domain secret',
  usage: '[opts...] <source-cluster> <destination-cluster> <instance-name>...',
  args: [many('cluster or instance name', 3)],
  options: [oVerbose, oIallocator, oBackendParameters, oHvparams, oOsParameters, oNet, oCompress, ...MOVE_OPTIONS],
  examples: [
    '--src-ca-file=a.pem --dest-ca-file=b.pem --src-username=admin --src-password-file=secret a.example.com b.example.com vm1',
  ],
  run: (call) => moveInstances(call, open),
})

export const moveTool = (open: OpenRapi = openRapi): Tool => ({ name: 'move-instance', commands: [moveCommand(open)] })

async function moveInstances(call: Call, open: OpenRapi): Promise<number> {
  const { options, terminal, clock } = call
  const [sourceName = '', destinationName = '', ...names] = call.args
  const moves = movesOf(call, names)
  const debug = (options.raw('debug') ?? 0) !== 0 ? (text: string) => terminal.err(text) : undefined
  const [from, to] = await accessOf(call, sourceName, destinationName)
  const source = new RemoteCluster(`source cluster ${sourceName}`, open(from, clock), clock, debug)
  const destination = new RemoteCluster(`destination cluster ${destinationName}`, open(to, clock), clock, debug)
  await checkPlacement(source, destination, moves)
  const failures = new Map<string, string>()
  await eachBounded(moves, options.number('parallel') ?? 1, async (move) => {
    const say = (text: string) => terminal.out(`${move.name}: ${text}`)
    const detail = options.flag('verbose') ? say : () => undefined
    await moveInstance({ source, destination, clock, say, detail }, move).catch((error: unknown) => {
      failures.set(move.name, errorText(error))
    })
  })
  for (const { name, newName } of moves) {
    const title = name === newName ? name : `${name} as ${newName}`
    const why = failures.get(name)
    if (why === undefined) terminal.out(`${title}: Success`)
    else terminal.err(`${title}: Failed (${why})`)
  }
  return failures.size === 0 ? EXIT.ok : EXIT.failure
}

/** The first question to both clusters also shows whether they answer. */
async function checkPlacement(source: RemoteCluster, destination: RemoteCluster, moves: readonly Move[]) {
  await source.fields('/2/info').catch(asFailure)
  const { default_iallocator } = await destination.fields('/2/info').catch(asFailure)
  const placed = moves.every(({ changes }) => changes.iallocator ?? changes.primary ?? changes.secondary)
  if (placed || (typeof default_iallocator === 'string' && default_iallocator !== '')) return
  throw new CommandFailure(
    `move-instance: error: ${destination.title} has no default iallocator: give --iallocator${moves.length === 1 ? ', or --dest-primary-node' : ''}`,
  )
}

const asFailure = (error: unknown): never => {
  throw new CommandFailure(`move-instance: error: ${errorText(error)}`)
}

/** The source's access counts for the destination, unless that has its own. */
async function accessOf(call: Call, source: string, destination: string): Promise<[RapiAccess, RapiAccess]> {
  const { options } = call
  const ca = options.text('src_ca_file')
  if (ca === undefined) throw new UsageError('Missing source cluster CA file: give it with --src-ca-file')
  const either = (name: string) => options.text(`dest_${name}`) ?? options.text(`src_${name}`)
  const port = options.number('src_rapi_port') ?? 0
  const access = async (
    host: string,
    file: string,
    more: Omit<RapiAccess, 'host' | 'ca' | 'password'>,
    secret?: string,
  ) => ({
    ...more,
    host: host.replace(/^\[|\]$/g, ''),
    ca: await textOf(call, file),
    password: secret === undefined ? undefined : (await textOf(call, secret)).split('\n')[0],
  })
  return [
    await access(source, ca, { port, user: options.text('src_username') }, options.text('src_password_file')),
    await access(
      destination,
      either('ca_file') ?? ca,
      { port: options.number('dest_rapi_port') ?? port, user: either('username') },
      either('password_file'),
    ),
  ]
}

async function textOf({ files }: Call, file: string): Promise<string> {
  try {
    return await files.readFile(file, 'utf8')
  } catch (error) {
    throw new CommandFailure(`move-instance: error: Unable to load ${file}: ${errorText(error)}`)
  }
}

function movesOf({ options }: Call, names: readonly string[]): Move[] {
  checkNumbers(options)
  const newName = options.text('dest_instance_name')
  const changes = changesOf(options)
  if (names.length > 1 && (newName !== undefined || isForOne(changes)))
    throw new UsageError(
      'The options --dest-instance-name, --dest-primary-node, --dest-secondary-node, --hypervisor-parameters, --backend-parameters,' +
        ' --os-parameters and --net can only be used when moving exactly one instance',
    )
  if (new Set(names).size < names.length) throw new UsageError('An instance is named twice')
  return names.map((name) => ({
    ...{ name, newName: newName ?? name, changes },
    compress: options.text('compress') ?? 'none',
    tries: options.number('opportunistic_tries') ?? 0,
    delay_s: options.number('opportunistic_delay') ?? OPPORTUNISTIC_DELAY_S,
    keep: options.flag('keep_source_instance'),
  }))
}

function checkNumbers(options: Call['options']): void {
  const tries = options.number('opportunistic_tries')
  const delay_s = options.number('opportunistic_delay')
  const placed = options.text('dest_primary_node') ?? options.text('dest_secondary_node')
  const iallocator = options.text('iallocator')
  if ((options.number('parallel') ?? 1) < 1) throw new UsageError('Number of simultaneous moves must be >= 1')
  if (iallocator !== undefined && placed !== undefined)
    throw new UsageError('Destination node and iallocator options exclude each other')
  if (iallocator === undefined && (tries ?? 0) > 0)
    throw new UsageError('Opportunistic instance creation can only be used with an iallocator')
  if ((tries ?? 0) < 0) throw new UsageError('Number of opportunistic creation attempts must be >= 0')
  if (delay_s !== undefined && tries === undefined)
    throw new UsageError('Opportunistic delay can only be specified when opportunistic tries are used')
  if (delay_s !== undefined && delay_s <= 0)
    throw new UsageError('The delay between two successive creation attempts must be greater than zero')
}

function changesOf(options: Call['options']): Changes {
  // An empty value removes what the instance has.
  const nics = byIndex(options.idents('nics'), 'NIC', MAX_NICS).map((values) => {
    const empty = Object.keys(values).filter((name) => values[name] === '')
    return { ...nicValues(values), ...Object.fromEntries(empty.map((name) => [name, null])) }
  })
  return {
    primary: options.text('dest_primary_node'),
    secondary: options.text('dest_secondary_node'),
    iallocator: options.text('iallocator'),
    diskTemplate: options.text('disk_template'),
    hvparams: hypervisorParams(options.keyValues('hvparams')),
    beparams: backendParams(options.keyValues('beparams')),
    osparams: options.keyValues('osparams') ?? {},
    nics,
  }
}

const isForOne = ({ primary, secondary, hvparams, beparams, osparams, nics }: Changes): boolean =>
  (primary ?? secondary) !== undefined ||
  nics.length > 0 ||
  [hvparams, beparams, osparams].some((params) => Object.keys(params).length > 0)
