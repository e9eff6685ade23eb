// The load of instances, from monitoring collectors.
import { type ClusterModel, Col, type Settings } from '../model/cluster-model'
import type { JsonFields } from './json-fields'

type Loads = Pick<Settings, 'utilisation' | 'nodeLoads'>

export interface LoadCollector {
  readonly name: string
  /** The data of one node. */
  reads(data: JsonFields): boolean
  /** `data` in the order of the nodes. Returns a text if something is wrong. */
  use(model: ClusterModel, data: readonly JsonFields[]): Loads | string
}

/** Divides the node's load equally among its virtual processors. */
export const WHOLE: LoadCollector = {
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

/** The load of each instance, as Xen counts it. */
export const XEN: LoadCollector = {
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
