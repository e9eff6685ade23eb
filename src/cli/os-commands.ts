import { OpClusterSetParams } from '../opcodes/cluster'
import { OpOsDiagnose } from '../opcodes/os'
import { type Call, CommandFailure, EXIT } from './command'
import { pythonText } from './format'
import { NOTHING_GIVEN } from './instance-modify'
import { byIdent, hypervisorParams } from './params'
import { firstArgument, opcodeOf } from './submit'

async function diagnose(
  { jobs }: Call,
  fields: readonly string[],
  names: readonly string[] = [],
): Promise<unknown[][]> {
  const rows = await jobs.run(opcodeOf(OpOsDiagnose, { output_fields: fields, names }))
  return Array.isArray(rows) ? rows.filter((row: unknown): row is unknown[] => Array.isArray(row)) : []
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Every OS, or every variant of one that has variants. */
export async function listOses(call: Call): Promise<number> {
  const rows = await diagnose(call, ['name', 'variants'])
  if (!call.options.flag('no_headers')) call.terminal.out('Name')
  for (const [name, variants] of rows) {
    const suffixes = list(variants).map((variant) => `+${pythonText(variant)}`)
    for (const suffix of suffixes.length === 0 ? [''] : suffixes) call.terminal.out(pythonText(name) + suffix)
  }
  return EXIT.ok
}

export async function showOses(call: Call): Promise<number> {
  const fields = ['name', 'valid', 'variants', 'parameters', 'hidden', 'blacklisted']
  const rows = await diagnose(call, fields, call.args)
  const { out, err } = call.terminal
  for (const [name, valid, variants, parameters, hidden, blacklisted] of rows) {
    out(`${pythonText(name)}:`)
    out(`  - valid: ${pythonText(valid)}`)
    out(`  - hidden: ${pythonText(hidden)}`)
    out(`  - blacklisted: ${pythonText(blacklisted)}`)
    if (valid === true) {
      out('  - variants:')
      for (const variant of list(variants)) out(`    - ${pythonText(variant)}`)
      out('  - parameters:')
      for (const parameter of list(parameters)) out(`    - ${list(parameter).map(pythonText).join(': ')}`)
    }
    out('')
  }
  const unknown = call.args.filter((name) => !rows.some(([found]) => found === name))
  for (const name of unknown) err(`OS ${name} unknown`)
  return unknown.length === 0 ? EXIT.ok : EXIT.failure
}

export async function diagnoseOses(call: Call): Promise<number> {
  const { out } = call.terminal
  let invalid = false
  for (const [name, valid, variants, status, hidden, blacklisted] of await diagnose(call, [
    'name',
    'valid',
    'variants',
    'node_status',
    'hidden',
    'blacklisted',
  ])) {
    const nodes = Object.entries(typeof status === 'object' && status !== null ? status : {})
    const notes = [...(hidden === true ? ['hidden'] : []), ...(blacklisted === true ? ['blacklisted'] : [])]
    invalid ||= valid !== true
    const suffix = notes.length === 0 ? '' : `, ${notes.join(', ')}`
    out(`OS: ${pythonText(name)} [global status: ${globalStatus(valid === true, nodes)}${suffix}]`)
    if (list(variants).length > 0) out(`  Variants: [${list(variants).map(pythonText).join(', ')}]`)
    for (const [node, found] of nodes) for (const line of nodeLines(node, list(found))) out(line)
    out('')
  }
  return invalid ? EXIT.failure : EXIT.ok
}

function globalStatus(valid: boolean, nodes: readonly (readonly [string, unknown])[]): string {
  if (valid) return 'valid'
  return nodes.some(([, found]) => list(list(found)[0])[1] === true) ? 'partial' : 'invalid'
}

/** What one node said: the first definition in its search path is the one it uses. */
function nodeLines(node: string, found: readonly unknown[]): string[] {
  const [used, ...others] = found
  if (used === undefined) return [`  Node: ${node}, status: missing`]
  const hidden = others.map((os) => `    [other definition in the search path: ${pythonText(list(os)[0])}]`)
  return [`  Node: ${node}, status: ${definition(list(used))}`, ...hidden]
}

function definition([path, valid, message, variants, parameters, versions, trusted]: readonly unknown[]): string {
  const where = `(path: ${pythonText(path)})`
  if (valid !== true) return `invalid ${where}: ${pythonText(message)}`
  const part = (title: string, texts: readonly string[]) =>
    texts.length === 0 ? '' : ` [${title}: ${texts.join(', ')}]`
  return [
    `valid ${where}`,
    part('API versions', list(versions).map(pythonText)),
    part('variants', list(variants).map(pythonText)),
    part(
      'parameters',
      list(parameters).map((parameter) => pythonText(list(parameter)[0])),
    ),
    trusted === false ? ' [untrusted]' : ' [trusted]',
  ].join('')
}

export async function modifyOs(call: Call): Promise<number> {
  const { options } = call
  const name = firstArgument(call)
  const hvparams = byIdent(options.idents('hvparams'))
  const [osparams, secret] = [options.keyValues('osparams'), options.keyValues('osparams_private')]
  const [hidden, blacklisted] = [options.optionalFlag('hidden'), options.optionalFlag('blacklisted')]
  const listed = (on: boolean | undefined) => (on === undefined ? undefined : [[on ? 'add' : 'remove', name]])
  const changes = {
    os_hvp: hvparams && {
      [name]: Object.fromEntries(Object.entries(hvparams).map(([hv, values]) => [hv, hypervisorParams(values, hv)])),
    },
    osparams: osparams && { [name]: osparams },
    osparams_private_cluster: secret && { [name]: secret },
    hidden_os: listed(hidden),
    blacklisted_os: listed(blacklisted),
  }
  if (Object.values(changes).every((value) => value === undefined)) throw new CommandFailure(NOTHING_GIVEN)
  await call.jobs.run(opcodeOf(OpClusterSetParams, changes))
  return EXIT.ok
}
