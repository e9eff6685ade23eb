// Uses the processor figures of the nodes' monitoring daemons as the instances' load.
import { BadClusterData } from '../../allocation/model/cluster-data'
import { type ClusterModel, buildModel } from '../../allocation/model/cluster-model'
import { JsonFields } from '../../allocation/sources/json-fields'
import { WHOLE, XEN } from '../../allocation/sources/measured-loads'
import { MOND_LATEST_API_VERSION } from '../../model/constants/versions'
import { PORT } from '../../model/constants/daemons'
import { MOND_ANSWER_BYTES_MAX, MOND_ANSWER_S } from '../../model/limits/monitoring'
import { askMond, MondFailure } from '../../rpc/mond/client'
import { readFile } from './files'
import { type Parsed, has, isYes, textOf } from './options'
import { Stop, type Context, failure } from './context'

/** The cluster with measured loads, if the options ask for them and all nodes report. */
export async function monitored(model: ClusterModel, options: Parsed, surroundings: Context): Promise<ClusterModel> {
  if (!isYes(options, 'mond')) return model
  const reports = reportsFrom(options, surroundings)
  if (has(options, 'ignore-dynu')) return model
  const collector = has(options, 'mond-xen') ? XEN : WHOLE
  const reported = await Promise.all(model.nodes.map(({ data: { name } }) => reports(name, collector.name)))
  const data = reported.flatMap((one) => (one === undefined || !collector.reads(one) ? [] : [one]))
  const missing = (why: string) => {
    surroundings.err(`${why}\n`)
    if (has(options, 'exit-on-missing-mond-data')) throw failure('Not all required data available')
    return model
  }
  if (data.length < model.nodes.length) {
    return missing(`Didn't receive an answer by all MonDs, ${collector.name}'s data will be ignored.`)
  }
  const loads = collector.use(model, data)
  return typeof loads === 'string' ? missing(loads) : buildModel(model.data, { ...model.settings, ...loads })
}

/** The data of a collector of a node. */
type Reports = (node: string, collector: string) => Promise<JsonFields | undefined>

function reportsFrom(options: Parsed, surroundings: Context): Reports {
  const file = textOf(options, 'mond-data')
  if (file === undefined) return (node, collector) => askNode(node, collector, surroundings)
  const text = readFile(surroundings, file, (why) => new Stop(1, '', `${options.program}: ${why}\n`))
  try {
    const saved = JsonFields.parseList("Parsing MonD's answer", text, 'invalid monitoring data')
    const byNode = new Map(saved.map((one) => [one.string('node'), one.objects('reports')]))
    return (node, collector) => {
      const found = byNode.get(node)?.find((one) => one.string('name') === collector)
      return Promise.resolve(found?.object('data', 'data'))
    }
  } catch (error) {
    throw error instanceof BadClusterData ? failure(`can't parse MonD data: ${error.message}`) : error
  }
}

async function askNode(node: string, collector: string, { clock, err }: Context): Promise<JsonFields | undefined> {
  const from = `node's ${node} MonD for DC ${collector}`
  let attempt = `Failed to contact ${from}`
  try {
    const path = `/${MOND_LATEST_API_VERSION}/report/default/${collector}`
    const bounds = { clock, limit_s: MOND_ANSWER_S, bytes_max: MOND_ANSWER_BYTES_MAX }
    const { text } = await askMond({ host: node, port: PORT.mond }, path, bounds)
    attempt = `Can't read the report of ${from}`
    return JsonFields.parse('Parsing report', text, 'report').object('data', 'data')
  } catch (error) {
    if (!(error instanceof BadClusterData || error instanceof MondFailure)) throw error
    err(`${attempt}: ${error.message}\n`)
    return undefined
  }
}
