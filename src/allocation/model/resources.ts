// The resources of the whole cluster: total, used and free.
import { type ClusterModel, Col, freeMemory } from './cluster-model'
import { Score } from './score'

export interface Resources {
  readonly freeMemory: number
  readonly freeDisk: number
  readonly freeSpindles: number
  readonly availableMemory: number
  readonly availableDisk: number
  readonly mostMemory: number
  readonly mostDisk: number
  readonly instanceMemory: number
  readonly usedDisk: number
  readonly usedSpindles: number
  readonly usedCpus: number
  readonly totalMemory: number
  readonly totalDisk: number
  readonly totalSpindles: number
  readonly totalCpus: number
  readonly virtualCpus: number
  /** Used virtual CPUs as physical ones. */
  readonly normalCpus: number
  readonly unaccountedMemory: number
  readonly nodeMemory: number
  readonly instances: number
  readonly score: number
}

export function resourcesOf(model: ClusterModel, nodes: readonly number[]): Resources {
  const get = (node: number, col: Col) => model.rows[node * Col.Width + col] ?? 0
  const facts = nodes.flatMap((node) => {
    const one = model.nodes[node]
    return one === undefined ? [] : [{ node, ...one }]
  })
  type Facts = (typeof facts)[number]
  const sum = (of: (one: Facts) => number) => facts.reduce((total, one) => total + of(one), 0)
  const most = (of: (one: Facts) => number) => facts.reduce((best, one) => Math.max(best, of(one)), 0)
  const memory = ({ node }: Facts) => Math.max(0, freeMemory(model, node) - get(node, Col.Reserved))
  const disk = ({ node, lowDisk }: Facts) => Math.max(0, get(node, Col.FreeDisk) - lowDisk)
  return {
    freeMemory: sum(({ node }) => freeMemory(model, node)),
    freeDisk: sum(({ node }) => get(node, Col.FreeDisk)),
    freeSpindles: sum(({ node }) => get(node, Col.FreeSpindles)),
    availableMemory: sum(memory),
    availableDisk: sum(disk),
    mostMemory: most(memory),
    mostDisk: most(disk),
    instanceMemory: sum(({ node }) => get(node, Col.InstanceMemory)),
    usedDisk: sum(({ node, data }) => Math.trunc(data.totalDisk) - get(node, Col.FreeDisk)),
    usedSpindles: sum(({ node, data }) => data.spindles - get(node, Col.FreeSpindles)),
    usedCpus: sum(({ node }) => get(node, Col.Vcpus)),
    totalMemory: sum(({ data }) => data.totalMemory),
    totalDisk: sum(({ data }) => data.totalDisk),
    totalSpindles: sum(({ data }) => data.spindles),
    totalCpus: sum(({ data }) => data.totalCpus),
    virtualCpus: sum(({ data, vcpuRatio }) => Math.floor(vcpuRatio * data.totalCpus)),
    normalCpus: sum(({ node, vcpuRatio }) => get(node, Col.Vcpus) / vcpuRatio),
    unaccountedMemory: sum(({ unaccounted }) => unaccounted),
    nodeMemory: sum(({ data }) => data.nodeMemory),
    instances: sum(({ node }) => get(node, Col.Primaries)),
    score: new Score(model, nodes).value(),
  }
}
