// gnt-storage: providers of external storage, and their faults.
import { pythonText } from '../../lib/text/python-text'
import { niceSort, niceSortBy } from '../../model/nice-sort'
import { OpExtStorageDiagnose } from '../../opcodes/os'
import type { Call } from '../command'
import { CommandFailure, EXIT } from '../outcome'
import { yamlKey, yamlPair } from '../output/info'
import { opcodeOf } from '../submit/submit'

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const pairs = (value: unknown): [string, unknown][] =>
  niceSortBy(typeof value === 'object' && value !== null ? Object.entries(value) : [], ([name]) => name)

/** Every provider; the caller selects the named ones. */
async function providers({ jobs }: Call, fields: readonly string[]): Promise<unknown[][]> {
  const rows = list(await jobs.run(opcodeOf(OpExtStorageDiagnose, { output_fields: fields, names: [] })))
  return rows.map((row) => [...list(row)])
}

async function someProviders(call: Call, fields: readonly string[], complaint: string): Promise<unknown[][]> {
  const rows = await providers(call, fields)
  if (rows.length === 0) throw new CommandFailure(complaint)
  return rows
}

const FIELDS = ['name', 'node_status', 'nodegroup_status', 'parameters']

/** The named providers, or all; a missing one is a failure. */
export async function storageData(call: Call): Promise<unknown> {
  const rows = await providers(call, FIELDS)
  const missing = call.args.filter((name) => !rows.some(([found]) => found === name))
  if (missing.length > 0) throw new CommandFailure(`ExtStorage provider ${missing.join(', ')} not found`)
  const named = rows.filter(([name]) => call.args.length === 0 || call.args.includes(String(name)))
  return named.map((row) => Object.fromEntries(FIELDS.map((field, at) => [field, row[at] ?? null])))
}

/** The state of every external storage provider on every node and in every group. */
export async function diagnoseStorage(call: Call): Promise<number> {
  const { out } = call.terminal
  const fields = ['name', 'node_status', 'nodegroup_status']
  for (const [name, nodes, groups] of await someProviders(call, fields, "Can't get the list of ExtStorage providers")) {
    const isValid = ([, found]: readonly [string, unknown]) => list(list(found)[0])[1] === true
    out(`Provider: ${pythonText(name)}`)
    out('---')
    for (const desired of [true, false])
      for (const node of pairs(nodes).filter((pair) => isValid(pair) === desired))
        out(`  Node: ${node[0]}, status: ${nodeStatus(list(list(node[1])[0]))}`)
    out('  --')
    for (const desired of [true, false])
      for (const [group, usable] of pairs(groups))
        if ((usable === true) === desired) out(`  For nodegroup: ${group} --> ${desired ? 'valid' : 'invalid'}`)
    out('')
  }
  return EXIT.ok
}

function nodeStatus([path, valid, message, parameters]: readonly unknown[]): string {
  if (path === undefined) return 'ExtStorage provider not found'
  const status = valid === true ? 'valid' : `invalid - ${pythonText(message)}`
  const names = list(parameters).map((parameter) => pythonText(list(parameter)[0]))
  const displayed = names.length === 0 ? 'no parameters' : `parameters: ${names.join(', ')}`
  return `${status} (path: ${pythonText(path)}) [${displayed}]`
}

export async function showStorage(call: Call): Promise<number> {
  const { args, terminal } = call
  const { out } = terminal
  const rows = await someProviders(
    call,
    ['name', 'nodegroup_status', 'parameters'],
    "Can't get the ExtStorage providers list",
  )
  for (const [name, groups, parameters] of rows) {
    if (args.length > 0 && !args.includes(String(name))) continue
    out(`${yamlKey(pythonText(name))}:`)
    const usable = niceSort(pairs(groups).flatMap(([group, valid]) => (valid === true ? [group] : [])))
    if (usable.length === 0) out('  - Invalid for all nodegroups')
    else {
      out('  - Valid for nodegroups:')
      for (const group of usable) out(`      ${group}`)
      out('  - Supported parameters:')
      for (const parameter of list(parameters)) out(`      ${yamlPair(parameter)}`)
    }
    out('')
  }
  for (const name of args.filter((arg) => !rows.some(([found]) => found === arg))) {
    out(`${yamlKey(name)}: Not Found`)
    out('')
  }
  return EXIT.ok
}
