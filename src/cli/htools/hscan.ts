// `hscan`: writes clusters to text files, and a line about each.
import { BadClusterData } from '../../allocation/model/cluster-data'
import { type ClusterModel, Col, buildModel } from '../../allocation/model/cluster-model'
import { type LiveRecords, liveCluster } from '../../allocation/sources/live-cluster'
import { score8 } from '../../allocation/model/numbers'
import { Score } from '../../allocation/model/score'
import { clusterText } from '../../allocation/sources/text-format'
import { GanetiError } from '../../model/errors'
import { writeFile } from './files'
import { nodeMemoryOf, recordsOf } from './load'
import { type Parsed, has, parseOptions, textOf } from './options'
import { recordsFromLuxi } from './sources'
import { nodeTable } from './table'
import { Stop, type Context } from './context'
import { errorText } from '../../lib/system-failure'

const OPTIONS = 'print-nodes output-dir luxi verbose no-headers static-kvm-node-memory version help help-completion'

/** The exit code if not every cluster could be written. */
const INCOMPLETE = 2

const HEADER = ['Nodes', 'Inst', 'BNode', 'BInst', 't_mem', 'f_mem', 't_disk', 'f_disk', 'Score']
const WIDTHS = [5, 5, 5, 5, 6, 6, 6, 6, 10]

/** Scans the named remote APIs; if none is named, this machine's cluster over LUXI. */
export async function hscan(args: readonly string[], surroundings: Context): Promise<number> {
  const options = parseOptions('hscan', OPTIONS, args, 'host 0 none\n')
  const clusters = options.rest.length === 0 ? ['LOCAL'] : options.rest
  const width = Math.max(...clusters.map(({ length }) => length))
  if (!has(options, 'no-headers')) surroundings.out(`${row(['Name', ...HEADER], width)}\n`)
  let complete = true
  for (const name of clusters) {
    try {
      const model = await loadCluster(name, options, surroundings)
      surroundings.out(`${row([name, ...figures(model)], width)}\n`)
      show(model, options, surroundings)
      const file = `${textOf(options, 'output-dir') ?? '.'}/${name.replaceAll('/', '_')}.data`
      writeFile(surroundings, 'hscan', file, clusterText(model.data))
    } catch (error) {
      if (!(error instanceof BadClusterData)) throw error
      surroundings.out(`\nError for ${name}: failed to load data. Details:\n${error.message}\n`)
      complete = false
    }
  }
  return complete ? 0 : INCOMPLETE
}

async function loadCluster(name: string, options: Parsed, surroundings: Context): Promise<ClusterModel> {
  const local = options.rest.length === 0
  const records = local ? await ownRecords(options, surroundings) : await recordsOf(surroundings, name, undefined)
  return buildModel(liveCluster(records, nodeMemoryOf(options)))
}

/** Ends the program if this machine's master is unreachable, because there is no other cluster to scan. */
async function ownRecords(options: Parsed, surroundings: Context): Promise<LiveRecords> {
  try {
    return await recordsFromLuxi(surroundings.connect(textOf(options, 'luxi')))
  } catch (error) {
    if (error instanceof GanetiError) throw new BadClusterData(error.message)
    throw new Stop(1, '', `hscan: ${errorText(error)}\n`)
  }
}

function figures({ data, nodes, rows, ...model }: ClusterModel): string[] {
  const score = new Score(
    { data, nodes, rows, ...model },
    nodes.map((_, at) => at),
  )
  const sum = (of: (one: (typeof data.nodes)[number], at: number) => number) =>
    data.nodes.reduce((total, one, at) => total + of(one, at), 0)
  return [
    ...[nodes.length, data.instances.length, score.failing().length, score.affected()].map(String),
    sum(({ totalMemory }) => totalMemory).toFixed(0),
    String(sum(({ freeMemory }) => freeMemory)),
    (sum(({ totalDisk }) => totalDisk) / 1024).toFixed(0),
    String(Math.floor(sum((_, at) => rows[at * Col.Width + Col.FreeDisk] ?? 0) / 1024)),
    score8(score.value()),
  ]
}

const row = ([name = '', ...cells]: readonly string[], width: number): string =>
  [name.padEnd(width), ...cells.map((cell, at) => cell.padStart(WIDTHS[at] ?? 0))].join(' ')

function show(model: ClusterModel, options: Parsed, surroundings: Context): void {
  const fields = textOf(options, 'print-nodes')
  const nodes = model.nodes.map((_, at) => at)
  if (fields !== undefined) surroundings.out(nodeTable(model, nodes, fields))
}
