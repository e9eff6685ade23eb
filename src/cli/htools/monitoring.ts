// Takes the processor figures of the nodes' monitoring daemons as the load of instances.
import { BadClusterData } from '../../allocation/cluster-data'
import { type ClusterModel, Col, type Settings, buildModel } from '../../allocation/cluster-model'
import { JsonFields } from '../../allocation/json-fields'
import { MOND_LATEST_API_VERSION } from '../../model/constants/versions'
import { PORT } from '../../model/constants/daemons'
import { readFile } from './files'
import { type Parsed, has, isYes, textOf } from './options'
import { get } from './sources'
import { Stop, type Surroundings, failure } from './surroundings'

/** The cluster with measured loads, if the options ask for them; without, where not all nodes tell. */
export async function monitored(
  model: ClusterModel,
  options: Parsed,
  surroundings: Surroundings,
): Promise<ClusterModel> {
  if (!isYes(options, 'mond')) return model
  const reports = reportsFrom(options, surroundings)
  if (has(options, 'ignore-dynu')) return model
  const collector = has(options, 'mond-xen') ? XEN : WHOLE
  const told = await Promise.all(model.nodes.map(({ data: { name } }) => reports(name, collector.name)))
  const data = told.flatMap((one) => (one === undefined || !collector.reads(one) ? [] : [one]))
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

type Loads = Pick<Settings, 'utilisation' | 'nodeLoads'>

interface Collector {
  readonly name: string
  /** The data of one node. */
  reads(data: JsonFields): boolean
  /** `data` in the order of the nodes; a text instead says what is wrong. */
  use(model: ClusterModel, data: readonly JsonFields[]): Loads | string
}

/** Each virtual processor has its share in what the node is loaded with. */
const WHOLE: Collector = {
  name: 'cpu-avg-load',
  reads: (data) => data.isNumber('cpu_total'),
  use(model, data) {
    const loads = data.map((one) => one.number('cpu_total'))
    const cpus = (node: number) => model.rows[node * Col.Width + Col.Vcpus] ?? 0
    const share = (node: number, vcpus: number) => ((loads[node] ?? 0) / cpus(node)) * vcpus
    return {
      nodeLoads: new Map(model.nodes.map((node, at) => [node.data.name, loads[at] ?? 0])),
      utilisation: withLoads(model, ({ primary, vcpus }) => share(primary, vcpus)),
    }
  },
}

const XEN: Collector = {
  name: 'xen-cpu-avg-load',
  reads: (data) => data.keys().every((name) => data.isNumber(name)),
  use(model, data) {
    const loads = new Map(data.flatMap((one) => one.keys().map((name) => [name, one.number(name)] as const)))
    const without = model.data.instances.map(({ name }) => name).filter((name) => !loads.has(name))
    if (without.length > 0) return `No CPU information available for ${JSON.stringify(without.sort())}`
    return { utilisation: withLoads(model, ({ name }) => loads.get(name) ?? 0) }
  },
}

type Instance = ClusterModel['data']['instances'][number]

const withLoads = ({ instances }: ClusterModel, load: (one: Instance) => number): Map<string, readonly number[]> =>
  new Map(instances.map(({ data, util: [, ...others] }) => [data.name, [load(data), ...others]]))

/** The data of a collector of a node. */
type Reports = (node: string, collector: string) => Promise<JsonFields | undefined>

function reportsFrom(options: Parsed, surroundings: Surroundings): Reports {
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

async function askNode(node: string, collector: string, surroundings: Surroundings): Promise<JsonFields | undefined> {
  const from = `node's ${node} MonD for DC ${collector}`
  let attempt = `Failed to contact ${from}`
  try {
    const text = await get(`http://${node}:${PORT.mond}/${MOND_LATEST_API_VERSION}/report/default/${collector}`)
    attempt = `Can't read the report of ${from}`
    return JsonFields.parse('Parsing report', text, 'report').object('data', 'data')
  } catch (error) {
    if (!(error instanceof BadClusterData)) throw error
    surroundings.err(`${attempt}: ${error.message}\n`)
    return undefined
  }
}
