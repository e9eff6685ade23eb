import { OpExtStorageDiagnose } from '../opcodes/os'
import { type Call, EXIT } from './command'
import { pythonText } from './format'
import { opcodeOf } from './submit'

const FIELDS = ['name', 'node_status', 'nodegroup_status', 'parameters']

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const pairs = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : []

async function providers({ jobs, args }: Call): Promise<readonly unknown[]> {
  return list(await jobs.run(opcodeOf(OpExtStorageDiagnose, { output_fields: FIELDS, names: args })))
}

/** The state of every external storage provider on every node and in every group. */
export async function diagnoseStorage(call: Call): Promise<number> {
  const { out } = call.terminal
  for (const row of await providers(call)) {
    const [name, nodes, groups] = list(row)
    out(`ExtStorage Provider: ${pythonText(name)}`)
    for (const [node, found] of pairs(nodes)) {
      const [path, valid, message] = list(list(found)[0])
      const status =
        path === undefined
          ? 'missing'
          : valid === true
            ? `valid (path: ${pythonText(path)})`
            : `invalid: ${pythonText(message)}`
      out(`  Node: ${node}, status: ${status}`)
    }
    for (const [group, usable] of pairs(groups))
      out(`  Nodegroup: ${group}, status: ${usable === true ? 'ENABLED' : 'DISABLED'}`)
    out('')
  }
  return EXIT.ok
}

export async function showStorage(call: Call): Promise<number> {
  const { out, err } = call.terminal
  const rows = await providers(call)
  for (const row of rows) {
    const [name, , groups, parameters] = list(row)
    out(`${pythonText(name)}:`)
    out('  - Valid Nodegroups:')
    for (const [group, usable] of pairs(groups)) if (usable === true) out(`      ${group}`)
    out('  - Supported parameters:')
    for (const parameter of list(parameters)) out(`      ${list(parameter).map(pythonText).join(': ')}`)
    out('')
  }
  const unknown = call.args.filter((name) => !rows.some((row) => list(row)[0] === name))
  for (const name of unknown) err(`ExtStorage Provider ${name} unknown`)
  return unknown.length === 0 ? EXIT.ok : EXIT.failure
}
