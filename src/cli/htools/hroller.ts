// `hroller`: groups of nodes that may be rebooted together, one group after the other.
import type { ClusterModel } from '../../allocation/model/cluster-model'
import { type ClusterData, NO_NODE } from '../../allocation/model/cluster-data'
import type { Coloring } from '../../allocation/evacuation/coloring'
import {
  type NodeGraph,
  NoRoom,
  type RebootGroup,
  nodeColorings,
  nodeGraph,
  rebootGroups,
  rebootOrder,
} from '../../allocation/evacuation/reboot-groups'
import { findGroup, loadModel, saveData } from './load'
import { type Parsed, has, listOf, parseOptions, textOf, verbosity } from './options'
import { type Context, failure } from './context'
import { isMirroredInside } from '../../model/templates'

const OPTIONS =
  'text-data offline offline-maintenance verbose quiet no-headers node-tags save group print-moves full-evacuation skip-non-redundant ignore-non-redundant force one-step-only static-kvm-node-memory luxi master ialloc-src version help help-completion'

export async function hroller(args: readonly string[], surroundings: Context): Promise<number> {
  const options = parseOptions('hroller', OPTIONS, args)
  if (options.rest.length > 0) throw failure("This program doesn't take any arguments.")
  const model = await loadModel(options, surroundings, (data) => checkMaster(data, options, surroundings))
  saveData(options, surroundings, 'original', 'before hroller run', model.data)
  const nodes = wantedNodes(model, options)
  if (nodes.length === 0) throw failure('Cannot create node graph')
  const graph = nodeGraph(model, nodes, has(options, 'offline-maintenance'))
  const verbose = verbosity(options)
  if (verbose > 2) surroundings.out(`Node Graph: ${graphText(graph)}\n`)
  const colorings = nodeColorings(graph)
  const groups = rebootOrder(model, nodes, groupsOf(model, colorings, options))
  if (verbose > 1) surroundings.out(`${statistics(colorings)}\n`)
  const firstOnly = has(options, 'one-step-only')
  if (!has(options, 'no-headers')) surroundings.out(firstOnly ? "'First Reboot Group'\n" : "'Node Reboot Groups'\n")
  for (const group of firstOnly ? groups.slice(0, 1) : groups) {
    const names = group.nodes.map((node) => nameOf(model, node))
    surroundings.out(firstOnly ? names.map((name) => `${name}\n`).join('') : `${names.join(',')}\n`)
    if (has(options, 'print-moves')) surroundings.out(movesText(model, group))
  }
  return 0
}

function checkMaster(data: ClusterData, options: Parsed, surroundings: Context): void {
  const masters = data.nodes.flatMap(({ name, master }) => (master ? [name] : []))
  if (masters.length > 1) throw failure(`Found more than one master node: ${JSON.stringify(masters)}`)
  if (masters.length === 1) return
  const text = 'No master node found (maybe not supported by backend).'
  if (!has(options, 'force')) throw failure(text)
  surroundings.err(`Warning: ${text}\n`)
}

function wantedNodes({ data, nodes }: ClusterModel, options: Parsed): number[] {
  const [group, tags] = [textOf(options, 'group'), listOf(options, 'node-tags')]
  const desired = group === undefined ? undefined : findGroup(data, group)
  if (desired === -1) throw failure('Cannot find target group.')
  const busy = has(options, 'skip-non-redundant')
    ? data.instances.flatMap((one) => (isMirroredInside(one.template) || one.forthcoming ? [] : [one.primary]))
    : []
  const skipped = new Set(busy)
  return nodes.flatMap(({ data: node, offline }, at) => {
    if (offline || skipped.has(at) || (desired !== undefined && node.group !== desired)) return []
    return tags === undefined || node.tags.some((tag) => tags.includes(tag)) ? [at] : []
  })
}

function groupsOf(model: ClusterModel, colorings: readonly Coloring[], options: Parsed): RebootGroup[] {
  try {
    return rebootGroups(model, colorings, {
      ignoreNonRedundant: has(options, 'ignore-non-redundant'),
      fullEvacuation: has(options, 'full-evacuation'),
    })
  } catch (error) {
    throw error instanceof NoRoom ? failure(error.message) : error
  }
}

const nameOf = ({ data }: ClusterModel, node: number): string => data.nodes[node]?.name ?? ''

function movesText(model: ClusterModel, { moves }: RebootGroup): string {
  const lines = moves.map(({ instance, primary, secondary }) => {
    const nodes = [primary, secondary].filter((node) => node !== NO_NODE).map((node) => nameOf(model, node))
    return `  ${[model.data.instances[instance]?.name, ...nodes].join(' ')}\n`
  })
  return lines.join('')
}

/** The format in which Haskell shows an array. */
function graphText({ first, graph }: NodeGraph): string {
  const rows = graph.map((others, at) => `(${at + first},[${others.map((other) => other + first).join(',')}])`)
  return `array (${first},${first + graph.length - 1}) [${rows.join(',')}]`
}

/** The orders by their number of colours, the best first; TIE with the previous one, or LOOSE to it. */
function statistics(colorings: readonly Coloring[]): string {
  const sorted = [...colorings].reverse().sort((a, b) => a.classes.length - b.classes.length)
  const lines = sorted.map(({ name, classes }, at) => {
    const before = sorted[at - 1]?.classes.length
    const word = before === undefined ? '' : before === classes.length ? ' TIE ' : ' LOOSE '
    return `${word}${name}: ${classes.length} (${classes.map(({ length }) => length).join(',')})`
  })
  return lines.join('')
}
