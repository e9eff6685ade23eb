// `hspace`: counts how many instances fit on a cluster: first of shrinking sizes, then of one size.
import { type InstanceData, NO_NODE, type Spec, nodesNeeded } from '../../allocation/model/cluster-data'
import { type ClusterModel, buildModel } from '../../allocation/model/cluster-model'
import { candidatesFor } from '../../allocation/explain/explain'
import { candidateLines } from '../../allocation/model/explain-text'
import { type FillPlan, NOTHING_PLACED, fillInTiers, fillPlan } from '../../allocation/places/fill-plan'
import { type Filled, Filling } from '../../allocation/places/filling'
import { type Unreadable, parseSize, readNumber, score8 } from '../../allocation/model/numbers'
import { resourcesOf } from '../../allocation/model/resources'
import { Score } from '../../allocation/model/score'
import { clusterText } from '../../allocation/sources/text-format'
import { type Usage, Printer } from './hspace-output'
import { writeFile } from './files'
import { loadModel, savedData } from './load'
import { type Parsed, has, isYes, numberOf, parseOptions, textOf, verbosity } from './options'
import { coefficients, nodeTable } from './table'
import { type Context, failure } from './context'
import { ALLOCATION_TEMPLATES, type DiskTemplate, NO_DISKS } from '../../model/templates'

const OPTIONS =
  'print-nodes text-data disk-template spindle-use simulate verbose quiet independent-groups accept-existing-errors offline no-capacity-checks machine-readable max-cpu max-length min-disk standard-alloc tiered-alloc save static-kvm-node-memory master luxi ialloc-src explain version help help-completion'

export async function hspace(args: readonly string[], surroundings: Context): Promise<number> {
  const options = parseOptions('hspace', OPTIONS, args)
  if (options.rest.length > 0) throw failure("This program doesn't take any arguments.")
  const template = templateOption(options)
  const input = { standard: specOption(options, 'standard-alloc'), tiered: specOption(options, 'tiered-alloc') }
  const spindleUse = numberOf(options, 'spindle-use')
  const printer = new Printer(surroundings, isYes(options, 'machine-readable'))
  const model = await loadModel(options, surroundings)
  const [{ policy }, verbose] = [model.data, verbosity(options)]
  if (model.suffix !== '' && verbose > 1) {
    surroundings.err(`Note: Stripping common suffix of '${model.suffix}' from names\n`)
  }
  showNodes(model, options, surroundings, 'Initial cluster')
  const all = model.nodes.map((_, at) => at)
  if (verbose > 2) {
    const score = new Score(model, all)
    surroundings.err(`Initial coefficients: overall ${score8(score.value())}\n${coefficients(score)}`)
  }
  const initial = resourcesOf(model, all)
  const spindles = model.nodes.some(({ data }) => data.exclusiveStorage)
  printer.cluster(initial, model.nodes.length, spindles)
  const plan = planFor(model, options, template ?? policy.templates[0] ?? NO_DISKS, surroundings)
  const kind = template ?? policy.templates[0]
  if (kind === undefined) throw failure('null list of disk templates received from cluster')
  const use = spindleUse ?? policy.standard.spindles
  const tiers = input.tiered === undefined ? policy.minMax.map(({ max }) => usageOf(max)) : [input.tiered]
  const [first] = tiers
  if (first === undefined) throw failure('Empty list of specs received from the cluster')

  const filling = new Filling(model, plan.nodes, all, plan.options)
  const tiered = fillInTiers(
    filling,
    plan,
    tiers.map((usage) => instanceOf(usage, kind, use)),
  )
  finish('Tiered', model, tiered, first, kind)
  printer.tiered(model, tiered, { initial, final: resourcesOf(model, all), spindles })

  const fresh = buildModel(model.data, model.settings)
  const standard = input.standard ?? usageOf(policy.standard)
  const fixed = plan.stopped
    ? NOTHING_PLACED
    : new Filling(fresh, plan.nodes, all, plan.options).fill(instanceOf(standard, kind, use), plan.limit)
  finish('Standard', fresh, fixed, standard, kind)
  if (has(options, 'explain')) explain(fresh, instanceOf(standard, kind, use), plan, surroundings)
  printer.fixed(fixed, { initial, final: resourcesOf(fresh, all), spindles })
  printer.end()
  return 0

  function finish(name: 'Standard' | 'Tiered', at: ClusterModel, filled: Filled, usage: Usage, on: DiskTemplate): void {
    printer.spec(name, usage, on, spindles)
    if (verbose > 1) surroundings.err(allocationMap(`${name} allocation map`, at, filled, spindles))
    showNodes(at, options, surroundings, `${name} allocation`)
    const file = textOf(options, 'save')
    if (file === undefined) return
    writeFile(surroundings, 'hspace', `${file}.${name.toLowerCase()}`, clusterText(savedData(at)))
    const when = `after ${name.toLowerCase()} allocation`
    surroundings.err(`The cluster state ${when} has been written to file '${file}.${name.toLowerCase()}'\n`)
  }
}

/** Why the next instance of the standard size does not fit. */
function explain(model: ClusterModel, data: InstanceData, { options }: FillPlan, surroundings: Context): void {
  const next = { data, requiredNodes: nodesNeeded(data.template), group: undefined }
  surroundings.err(`Nodes for one more instance:\n${candidateLines(candidatesFor(model, next, options))}`)
}

function planFor(model: ClusterModel, options: Parsed, template: DiskTemplate, surroundings: Context): FillPlan {
  const length = numberOf(options, 'max-length') ?? -1
  const plan = fillPlan(model, {
    template,
    limit: length === -1 ? undefined : length,
    acceptExisting: has(options, 'accept-existing-errors'),
    independent: has(options, 'independent-groups'),
    capacity: !has(options, 'no-capacity-checks'),
  })
  if (verbosity(options) > 3) surroundings.err(planLines(model, plan))
  if (plan.nodes.length === 0 && !plan.stopped)
    throw failure(`failure during allocation: ${plan.mirrored ? 'Not enough online nodes' : 'No online nodes'}`)
  return plan
}

/** The input of the plan, as Ganeti prints it. For mirrored disks, each first node has a list of second nodes. */
function planLines({ data }: ClusterModel, { bad, nodes, mirrored }: FillPlan): string {
  const names = (what: string, all: readonly { readonly name: string }[], found: readonly number[]) =>
    found.length === 0 ? '' : `Bad ${what}: ${JSON.stringify(found.map((at) => all[at]?.name))}\n`
  const partners = (first: number) =>
    nodes.filter((at) => at !== first && data.nodes[at]?.group === data.nodes[first]?.group)
  const places = mirrored
    ? `Right [${nodes.map((first) => `(${first},[${partners(first).join(',')}])`).join(',')}]`
    : `Left [${nodes.join(',')}]`
  return `${names('nodes', data.nodes, bad.nodes)}${names('groups', data.groups, bad.groups)}Allocatable nodes: ${places}\n`
}

const usageOf = (spec: Spec): Usage => ({
  memory: spec.memory,
  disk: spec.disk,
  cpus: spec.cpus,
  spindles: spec.spindles,
})

const instanceOf = (
  { memory, disk, cpus, spindles }: Usage,
  template: DiskTemplate,
  spindleUse: number,
): InstanceData => ({
  name: 'new',
  memory,
  disk,
  disks: [{ size: disk, spindles }],
  vcpus: cpus,
  status: 'running',
  autoBalance: true,
  primary: NO_NODE,
  secondary: NO_NODE,
  template,
  tags: [],
  spindleUse,
  spindles,
  forthcoming: false,
})

const templateOption = (options: Parsed): DiskTemplate | undefined =>
  ALLOCATION_TEMPLATES.find((one) => one === textOf(options, 'disk-template'))

function specOption(options: Parsed, name: 'standard-alloc' | 'tiered-alloc'): Usage | undefined {
  const text = textOf(options, name)
  if (text === undefined) return undefined
  const [disk = '', memory = '', cpus = '', spindles = '1'] = text.split(',')
  const numberIn = (value: number | Unreadable) => (typeof value === 'number' ? value : 0)
  return {
    disk: numberIn(parseSize(disk)),
    memory: numberIn(parseSize(memory)),
    cpus: numberIn(readNumber(cpus, 'whole')),
    spindles: numberIn(readNumber(spindles, 'whole')),
  }
}

function showNodes(model: ClusterModel, options: Parsed, surroundings: Context, what: string): void {
  const fields = textOf(options, 'print-nodes')
  if (fields === undefined) return
  const nodes = model.nodes.map((_, at) => at)
  surroundings.err(`\n${what} status:\n${nodeTable(model, nodes, fields)}\n`)
}

function allocationMap(title: string, model: ClusterModel, { added }: Filled, spindles: boolean): string {
  const name = (node: number | undefined) => model.nodes[node ?? NO_NODE]?.data.name ?? ''
  const rows = added.map((at) => {
    const data = model.instances[at]?.data
    const numbers = [data?.memory, data?.disk, data?.vcpus].map(String)
    return [
      data?.name ?? '',
      name(model.primary[at]),
      name(model.secondary[at]),
      ...numbers,
      spindles ? String(data?.spindles ?? '?') : '',
    ]
  })
  const widths = Array.from({ length: 7 }, (_, k) => Math.max(0, ...rows.map((row) => row[k]?.length ?? 0)))
  const lines = rows.map((row) =>
    row.map((cell, k) => (k > 2 ? cell.padStart(widths[k] ?? 0) : cell.padEnd(widths[k] ?? 0))).join(' '),
  )
  return `${title}\n${lines.map((line) => ` ${line}\n`).join('')}`
}
