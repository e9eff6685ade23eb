// Tables in the format of the allocation programs, and the lists of nodes and instances.
import { NO_NODE, isRunning } from '../../allocation/model/cluster-data'
import { type ClusterModel, Col, freeMemory } from '../../allocation/model/cluster-model'
import type { Score } from '../../allocation/model/score'
import { fixed, score8, showDouble } from '../../allocation/model/numbers'

export function printTable(
  prefix: string,
  header: readonly string[],
  rows: readonly string[][],
  numeric: readonly boolean[],
) {
  const all = [header, ...rows]
  const widths = header.map((_, k) => Math.max(...all.map((row) => (row[k] ?? '').length)))
  const cell = (text: string, k: number) => (numeric[k] ? text.padStart(widths[k] ?? 0) : text.padEnd(widths[k] ?? 0))
  return all.map((row) => `${prefix} ${row.map(cell).join(' ')}\n`).join('')
}

export function coefficients(score: Score): string {
  const rows = score.components().map(({ name, value, weight }) => [name, score8(value), `x${fixed(weight, 2)}`])
  return printTable('  ', ['Field', 'Value', 'Weight'], rows, [false, true, true])
}

export function instanceTable(model: ClusterModel, instances: readonly number[]): string {
  const name = (node: number | undefined) => model.nodes[node ?? -1]?.data.name ?? ''
  const rows = instances.flatMap((at) => {
    const one = model.instances[at]
    if (one === undefined) return []
    const { data } = one
    return [
      [
        isRunning(data.status) ? 'R' : ' ',
        data.name,
        name(model.primary[at]),
        name(model.secondary[at]),
        data.autoBalance ? 'Y' : 'N',
        String(data.vcpus).padStart(3),
        String(data.memory).padStart(5),
        String(Math.floor(data.disk / 1024)).padStart(5),
        ...one.util.map((load) => fixed(load, 3)),
      ],
    ]
  })
  const header = ['F', 'Name', 'Pri_node', 'Sec_node', 'Auto_bal', 'vcpu', 'mem', 'dsk', 'lCpu', 'lMem', 'lDsk', 'lNet']
  return printTable(
    '',
    header,
    rows,
    header.map((_, k) => k > 4),
  )
}

const DEFAULT_FIELDS =
  'status name tmem nmem imem xmem fmem umem rmem tdsk fdsk tcpu ucpu pcnt scnt pfmem pfdsk rcpu cload mload dload nload'.split(
    ' ',
  )

export function nodeTable(model: ClusterModel, nodes: readonly number[], desired: string): string {
  const input = desired === '' ? [] : desired.split(',')
  const fields = input.length === 0 ? DEFAULT_FIELDS : input[0]?.startsWith('+') ? plus(input) : input
  const columns = fields.map((field) => FIELDS[field] ?? UNKNOWN)
  const rows = nodes.map((node) => columns.map(({ show }) => show(model, node)))
  return printTable(
    '',
    columns.map(({ header }) => header),
    rows,
    columns.map(({ text }) => !text),
  )
}

const plus = ([first = '', ...others]: readonly string[]): string[] => [
  ...DEFAULT_FIELDS,
  ...(first === '+' ? others : [first.slice(1), ...others]),
]

interface Field {
  readonly header: string
  readonly text?: boolean
  show(model: ClusterModel, node: number): string
}

const get = (model: ClusterModel, node: number, col: Col): number => model.rows[node * Col.Width + col] ?? 0
const column = (header: string, col: Col, digits = 0): Field => ({
  header,
  show: (model, node) => fixed(get(model, node, col), digits),
})
const fact = (header: string, of: (facts: ClusterModel['nodes'][number]) => number): Field => ({
  header,
  show: (model, node) => {
    const facts = model.nodes[node]
    return facts === undefined ? '' : fixed(of(facts), 0)
  },
})
const UNKNOWN: Field = { header: '<unknown field>', text: true, show: () => '<unknown field>' }
const share = (part: number, total: number): string => fixed(total === 0 ? 1 : part / total, 4)

/** In Ganeti's order: newest first. */
const instancesOn = ({ instances }: ClusterModel, places: Int32Array, node: number): number[] =>
  instances.flatMap((_, at) => (places[at] === node ? [at] : [])).reverse()

const displayed = (list: readonly (number | string)[]): string => `[${list.join(',')}]`

const FIELDS: Readonly<Record<string, Field>> = {
  idx: { header: 'Index', show: (_, node) => String(node).padStart(4) },
  name: { header: 'Name', text: true, show: (model, node) => model.nodes[node]?.alias ?? '' },
  fqdn: { header: 'Name', text: true, show: (model, node) => model.nodes[node]?.data.name ?? '' },
  status: {
    header: 'F',
    text: true,
    show: (model, node) => (model.nodes[node]?.offline ? '-' : get(model, node, Col.FailsN1) ? '*' : ' '),
  },
  tmem: fact('t_mem', ({ data }) => data.totalMemory),
  nmem: fact('n_mem', ({ data }) => data.nodeMemory),
  xmem: fact('x_mem', ({ unaccounted }) => unaccounted),
  fmem: fact('f_mem', ({ data }) => data.freeMemory),
  umem: { header: 'u_mem', show: (model, node) => String(freeMemory(model, node)) },
  amem: {
    header: 'a_mem',
    show: (model, node) => String(Math.max(0, freeMemory(model, node) - get(model, node, Col.Reserved))),
  },
  imem: column('i_mem', Col.InstanceMemory),
  rmem: column('r_mem', Col.Reserved),
  tdsk: fact('t_dsk', ({ data }) => data.totalDisk / 1024),
  fdsk: { header: 'f_dsk', show: (model, node) => String(Math.floor(get(model, node, Col.FreeDisk) / 1024)) },
  tcpu: fact('pcpu', ({ data }) => data.totalCpus),
  ucpu: column('vcpu', Col.Vcpus),
  pcnt: column('pcnt', Col.Primaries),
  scnt: column('scnt', Col.Secondaries),
  plist: { header: 'primaries', show: (model, node) => displayed(instancesOn(model, model.primary, node)) },
  slist: { header: 'secondaries', show: (model, node) => displayed(instancesOn(model, model.secondary, node)) },
  peermap: {
    header: 'PeerMap',
    text: true,
    show(model, node) {
      // Sorts by memory, the largest first. Among equals the last one comes first, as `instancesOn` lists them.
      const primaries = instancesOn(model, model.secondary, node).map((one) => model.primary[one] ?? NO_NODE)
      const memory = (primary: number) => model.peers[node]?.get(primary) ?? 0
      const pairs = [...new Set(primaries)].sort((one, other) => memory(other) - memory(one))
      return displayed(pairs.map((primary) => `(${primary},${memory(primary)})`))
    },
  },
  pfmem: {
    header: 'p_fmem',
    show: (model, node) => fixed(freeMemory(model, node) / (model.nodes[node]?.data.totalMemory ?? 0), 4),
  },
  pfdsk: {
    header: 'p_fdsk',
    show: (model, node) => {
      const data = model.nodes[node]?.data
      return data?.exclusiveStorage
        ? share(get(model, node, Col.FreeSpindles), data.spindles)
        : share(get(model, node, Col.FreeDisk), data?.totalDisk ?? 0)
    },
  },
  rcpu: {
    header: 'r_cpu',
    show: (model, node) => fixed(get(model, node, Col.Vcpus) / (model.nodes[node]?.data.totalCpus ?? 0), 2),
  },
  cload: column('lCpu', Col.LoadCpu, 3),
  mload: column('lMem', Col.LoadMemory, 3),
  dload: column('lDsk', Col.LoadDisk, 3),
  nload: column('lNet', Col.LoadNet, 3),
  ptags: {
    header: 'PrimaryTags',
    text: true,
    show: (model, node) =>
      [...(model.tagCounts[node] ?? [])]
        .sort()
        .map(([tag, count]) => `${tag}=${count}`)
        .join(','),
  },
  spindle_count: fact('NodeSpindles', ({ data }) => data.spindles),
  hi_spindles: { header: 'MaxSpindles', show: (model, node) => showDouble(model.nodes[node]?.highSpindles ?? 0) },
  inst_spindles: { header: 'InstSpindles', show: (model, node) => showDouble(get(model, node, Col.UsedSpindles)) },
}
