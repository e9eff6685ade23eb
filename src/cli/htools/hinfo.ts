// `hinfo`: a cluster's contents, whether it could lose a node, and its score.
import { NO_NODE } from '../../allocation/model/cluster-data'
import type { ClusterModel } from '../../allocation/model/cluster-model'
import { score8 } from '../../allocation/model/numbers'
import { Score } from '../../allocation/model/score'
import { loadModel, policyText } from './load'
import { has, parseOptions, textOf, verbosity } from './options'
import { coefficients, instanceTable, nodeTable, printTable } from './table'
import { type Context, failure } from './context'

const OPTIONS =
  'print-nodes print-instances text-data verbose quiet offline ignore-dynu mond mond-data static-kvm-node-memory master luxi ialloc-src version help help-completion'

export async function hinfo(args: readonly string[], surroundings: Context): Promise<number> {
  const options = parseOptions('hinfo', OPTIONS, args)
  if (options.rest.length > 0) throw failure("This program doesn't take any arguments.")
  const verbose = verbosity(options)
  const model = await loadModel(options, surroundings, (loaded) => {
    surroundings.out(`Loaded cluster tags: ${loaded.tags.join(',')}\n`)
    if (verbose > 2) surroundings.out(`Loaded cluster ipolicy: ${policyText(loaded.policy)}\n`)
  })
  const nodes = model.nodes.map((_, at) => at)
  const { data } = model
  if (data.instances.length === 0 && verbose > 1) surroundings.out('Cluster is empty.\n')
  const counted = `${nodes.length} node${nodes.length === 1 ? '' : 's'}, ${data.instances.length} instance${data.instances.length === 1 ? '' : 's'}`
  surroundings.out(`Loaded ${counted}, ${data.groups.length} node group${data.groups.length === 1 ? '' : 's'}\n`)
  if (model.suffix !== '' && verbose > 2) {
    surroundings.out(`Note: Stripping common suffix of '${model.suffix}' from names\n`)
  }
  showSplit(model, verbose, surroundings)
  if (verbose > 1) surroundings.out(groupText(model))
  if (has(options, 'print-instances')) {
    surroundings.err(
      `\nInstances instance map:\n${instanceTable(
        model,
        data.instances.map((_, at) => at),
      )}`,
    )
  }
  const fields = textOf(options, 'print-nodes')
  if (fields !== undefined) surroundings.err(`\nCluster status:\n${nodeTable(model, nodes, fields)}\n`)
  const score = new Score(model, nodes)
  surroundings.out(`Cluster is N+1 ${score.failing().length === 0 ? 'happy' : 'unhappy'}\n`)
  surroundings.out(`Cluster coefficients:\n${coefficients(score)}Cluster score: ${score8(score.value())}\n`)
  return 0
}

function showSplit({ data: { instances, nodes } }: ClusterModel, verbose: number, surroundings: Context): void {
  const split = instances.filter(
    ({ primary, secondary }) => secondary !== NO_NODE && nodes[primary]?.group !== nodes[secondary]?.group,
  )
  if (split.length === 0) return verbose > 1 ? surroundings.out('No split instances found\n') : undefined
  surroundings.out('Found instances belonging to multiple node groups:\n')
  for (const { name } of split) surroundings.err(`  ${name}\n`)
}

function groupText(model: ClusterModel): string {
  const { groups, nodes, instances } = model.data
  const rows = groups.flatMap(({ name }, group) => {
    const own = nodes.flatMap((node, at) => (node.group === group ? [at] : []))
    if (own.length === 0) return []
    const inside = instances.filter(({ primary }) => nodes[primary]?.group === group)
    const score = new Score(model, own)
    const failing = score.failing().length
    const counts = [own.length, inside.length, failing, score.affected()].map(String)
    return [[name, ...counts, failing === 0 ? 'True' : 'False', score8(score.value())]]
  })
  const header = ['Group', 'Nodes', 'Instances', 'Bad_Nodes', 'Bad_Instances', 'N+1', 'Score']
  return `Node group information:\n${printTable('  ', header, rows, [false, true, true, true, true, false, true])}`
}
