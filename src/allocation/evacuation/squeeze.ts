// Finds nodes that a cluster can spare, or needs back. All instances stay on online nodes, and each node keeps room for
// one more instance of a given size.
import { type Step, balance } from '../balance/balance'
import { Changes } from '../model/changes'
import { type ClusterData, type InstanceData, NO_NODE, type Spec } from '../model/cluster-data'
import { type ClusterModel, buildModel, instanceFacts } from '../model/cluster-model'
import { Placement, STRICT, Verdict } from '../model/placement'
import { isOnLvm } from '../../model/templates'

/** The cluster after switching some nodes and balancing the rest. */
export interface Squeezed {
  readonly model: ClusterModel
  readonly steps: readonly Step[]
}

/** Nodes with only primaries whose disks are elsewhere; the fullest first. */
export function offlineCandidates({ nodes, instances }: ClusterData): number[] {
  const real = instances.filter(({ forthcoming }) => !forthcoming)
  const primaries = nodes.map((_, at) => real.filter(({ primary }) => primary === at))
  const mirrors = new Set(real.map(({ secondary }) => secondary))
  const count = (node: number) => primaries[node]?.length ?? 0
  return nodes
    .flatMap(({ offline, master }, at) => {
      const bound = mirrors.has(at) || primaries[at]?.some(({ template }) => isOnLvm(template))
      return offline || master || bound ? [] : [at]
    })
    .sort((a, b) => count(b) - count(a))
}

/** Nodes that were taken offline as a reserve. */
export const onlineCandidates = ({ nodes }: ClusterData): number[] =>
  nodes.flatMap(({ offline, tags }, at) => (offline && tags.some((tag) => tag.startsWith(STANDBY)) ? [at] : []))

const STANDBY = 'htools:standby:'
/** The tag of nodes that are taken offline. */
export const STANDBY_TAG = `${STANDBY}auto`

/** Starting from the last candidate, all that can be spared together; in the candidates' order. */
export function nodesToOffline(data: ClusterData, candidates: readonly number[], spare: InstanceData): number[] {
  return candidates.reduceRight<number[]>((spared, node) => {
    const more = [node, ...spared]
    return suffices(switchNodes(data, more, true).model, spare) ? more : spared
  }, [])
}

/** The fewest first candidates that make enough room; undefined if not even all suffice. */
export function nodesToOnline(
  data: ClusterData,
  candidates: readonly number[],
  spare: InstanceData,
): number[] | undefined {
  for (let count = 0; count <= candidates.length; count++) {
    const nodes = candidates.slice(0, count)
    if (suffices(switchNodes(data, nodes, false).model, spare)) return nodes
  }
  return undefined
}

export function switchNodes(data: ClusterData, switched: readonly number[], offline: boolean): Squeezed {
  const nodes = data.nodes.map((node, at) => (switched.includes(at) ? { ...node, offline } : node))
  const model = buildModel({ ...data, nodes })
  const all = <T>(list: readonly T[]) => list.map((_, at) => at)
  return { model, steps: [...balance(model, all(nodes), all(data.instances), ANY_GAIN)] }
}

const ANY_GAIN = {
  diskMoves: true,
  instanceMoves: true,
  restrictedMigration: false,
  ignoreSoftErrors: false,
  evacuate: false,
  minGain: 0,
  minGainLimit: 0,
  maxRounds: -1,
  minScore: -Infinity,
}

/** A multiple of the usual size, without disks on the node. */
export const spareInstance = (usual: Spec, factor: number): InstanceData => ({
  name: 'spare',
  memory: Math.floor(factor * usual.memory),
  disk: 0,
  vcpus: Math.floor(factor * usual.cpus),
  status: 'running',
  autoBalance: false,
  primary: NO_NODE,
  secondary: NO_NODE,
  template: 'ext',
  tags: [],
  spindleUse: Math.floor(factor * usual.spindles),
  spindles: 0,
  forthcoming: false,
})

const suffices = (model: ClusterModel, spare: InstanceData): boolean =>
  model.data.instances.every((_, at) => model.nodes[model.primary[at] ?? NO_NODE]?.offline === false) &&
  everyNodeTakes(model, spare)

/** Also considers offline nodes. */
export function everyNodeTakes(model: ClusterModel, spare: InstanceData): boolean {
  const changes = new Changes(model, false)
  const instance = changes.add(instanceFacts(spare, model.data, {}, spare.name))
  const placement = new Placement(model, new Float64Array(model.rows.length))
  try {
    return model.nodes.every((_, node) => {
      placement.copy(node, 0)
      return placement.addPrimary(0, node, instance, 0, STRICT) === Verdict.ok
    })
  } finally {
    changes.drop()
  }
}
