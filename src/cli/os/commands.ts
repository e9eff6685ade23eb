// gnt-os: lists operating systems, shows what is wrong with them, and changes their parameters.
import { isObject } from '../../lib/shapes/shape'
import { pythonText } from '../../lib/text/python-text'
import { OS_SEARCH_PATH } from '../../model/constants/paths'
import { OpClusterSetParams } from '../../opcodes/cluster'
import { OpOsDiagnose } from '../../opcodes/os'
import type { Call } from '../command'
import { CommandFailure, EXIT } from '../outcome'
import { niceSortBy } from '../../model/nice-sort'
import { entries, formatInfo, toInfo, yamlKey, yamlPair, yamlText } from '../output/info'
import type { IdentKeyValues } from '../input/option-values'
import { byIdent, hypervisorName, hypervisorParams } from '../input/params'
import { firstArgument, opcodeOf } from '../submit/submit'
import { formatTable } from '../output/table'

async function diagnose({ jobs }: Call, fields: readonly string[]): Promise<unknown[][]> {
  const rows = await jobs.run(opcodeOf(OpOsDiagnose, { output_fields: fields, names: [] }))
  return Array.isArray(rows) ? rows.filter((row: unknown): row is unknown[] => Array.isArray(row)) : []
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The names of all OSes. An OS with variants is listed once for each variant. */
export async function osNames(call: Call): Promise<string[]> {
  const rows = await diagnose(call, ['name', 'variants'])
  return rows.flatMap(([name, variants]) => {
    const suffixes = list(variants).map((variant) => `+${pythonText(variant)}`)
    return (suffixes.length === 0 ? [''] : suffixes).map((suffix) => pythonText(name) + suffix)
  })
}

export async function listOses(call: Call): Promise<number> {
  const names = await osNames(call)
  const rows = names.map((name) => [name])
  const style = { headers: !call.options.flag('no_headers'), padTitles: true }
  for (const line of formatTable([{ title: 'Name', alignRight: false }], rows, style)) call.terminal.out(line)
  if (names.length === 0)
    call.terminal.err(
      `There is no operating system that all nodes can use. They look in ${OS_SEARCH_PATH.join(', ')}; "gnt-os diagnose" says what they found.`,
    )
  return EXIT.ok
}

const OS_FIELDS = [
  'name',
  'valid',
  'variants',
  'parameters',
  'api_versions',
  'blacklisted',
  'hidden',
  'os_hvp',
  'osparams',
  'trusted',
]

/** The named systems, or all; one that is not there is a failure. Ganeti's luxid has no table of systems, so a job asks the nodes. */
export async function osData(call: Call): Promise<Record<string, unknown>[]> {
  const { OS_VIEW } = await import('../../generated/resource-views.js')
  const rows = await diagnose(call, OS_VIEW)
  const missing = call.args.filter((name) => !rows.some(([found]) => found === name))
  if (missing.length > 0) throw new CommandFailure(`OS ${missing.join(', ')} not found`)
  return rows
    .map((row) => Object.fromEntries(OS_VIEW.map((field, at) => [field, row[at] ?? null])))
    .filter(({ name }) => call.args.length === 0 || call.args.includes(String(name)))
}

/** Those that instances can get. */
export const usableData = async (call: Call): Promise<Record<string, unknown>[]> =>
  (await osData(call)).filter(
    ({ valid, hidden, blacklisted }) => valid === true && hidden !== true && blacklisted !== true,
  )

export const areAllValid = (data: unknown): boolean => list(data).every((os) => isObject(os) && os['valid'] === true)

export async function showOses(call: Call): Promise<number> {
  const rows = await diagnose(call, OS_FIELDS)
  const { out } = call.terminal
  const chosen = rows.filter(([name]) => call.args.length === 0 || call.args.includes(String(name)))
  for (const row of chosen) for (const line of osLines(row)) out(line)
  const configured = (at: number): Readonly<Record<string, unknown>> =>
    Object.fromEntries(rows.flatMap((row) => Object.entries(row[at] ?? {})))
  const [hvparams, osparams] = [configured(OS_FIELDS.indexOf('os_hvp')), configured(OS_FIELDS.indexOf('osparams'))]
  let exitCode: number = EXIT.ok
  // An OS that no node has may still have parameters.
  for (const name of call.args.filter((arg) => !rows.some(([found]) => found === arg))) {
    const known = Object.hasOwn(hvparams, name) || Object.hasOwn(osparams, name)
    const info = entries(
      ['OS-specific hypervisor parameters', toInfo(hvparams[name] ?? {})],
      ['OS parameters', toInfo(osparams[name] ?? {})],
    )
    for (const line of known ? formatInfo([entries([name, info])]) : [`${yamlKey(name)}: `]) out(line)
    out('')
    if (known) continue
    call.terminal.err(`OS ${name} not found`)
    exitCode = EXIT.failure
  }
  return exitCode
}

function osLines(row: readonly unknown[]): string[] {
  const [name, valid, variants, parameters, versions, blacklisted, hidden] = row
  const numbers = list(versions).map(Number)
  return [
    `${yamlKey(pythonText(name))}:`,
    `  - valid: ${pythonText(valid)}`,
    `  - hidden: ${pythonText(hidden)}`,
    `  - blacklisted: ${pythonText(blacklisted)}`,
    ...(valid === true
      ? [
          '  - API versions:',
          ...numbers.sort((one, other) => one - other).map((version) => `    - ${version}`),
          '  - variants:',
          ...list(variants).map((variant) => `    - ${yamlText(pythonText(variant))}`),
          '  - parameters:',
          ...list(parameters).map((parameter) => `    - ${yamlPair(parameter)}`),
        ]
      : []),
    `  - trusted: ${pythonText(row[OS_FIELDS.indexOf('trusted')])}`,
    '',
  ]
}

export async function diagnoseOses(call: Call): Promise<number> {
  const { out } = call.terminal
  let bad = false
  const fields = ['name', 'valid', 'variants', 'node_status', 'hidden', 'blacklisted']
  const rows = await diagnose(call, fields)
  for (const [name, , variants, status, hidden, blacklisted] of rows) {
    const nodes = niceSortBy(
      Object.entries(typeof status === 'object' && status !== null ? status : {}),
      ([node]) => node,
    )
    const isValid = ([, found]: readonly [string, unknown]) => list(list(found)[0])[1] === true
    const [valid, invalid] = [nodes.filter(isValid), nodes.filter((node) => !isValid(node))]
    const global = valid.length > 0 && invalid.length === 0 ? 'valid' : valid.length > 0 ? 'partial valid' : 'invalid'
    bad ||= global !== 'valid'
    const notes = (hidden === true ? ' [hidden]' : '') + (blacklisted === true ? ' [blacklisted]' : '')
    out(`OS: ${pythonText(name)} [global status: ${global}]${notes}`)
    if (list(variants).length > 0) out(`  Variants: [${list(variants).map(pythonText).join(', ')}]`)
    for (const [node, found] of [...valid, ...invalid]) for (const line of nodeLines(node, list(found))) out(line)
    out('')
  }
  return bad ? EXIT.failure : EXIT.ok
}

/** The answer of one node, which uses the first definition in its search path. */
function nodeLines(node: string, found: readonly unknown[]): string[] {
  const [used, ...others] = found.map(list)
  if (used === undefined) return [`  Node: ${node}, status: OS not found`]
  const hidden = others.map(
    ([path, valid, message]) => `    [hidden] path: ${pythonText(path)}, status: ${osStatus(valid, message)}`,
  )
  return [`  Node: ${node}, status: ${definition(used)}`, ...hidden]
}

const osStatus = (valid: unknown, message: unknown): string =>
  valid === true ? 'valid' : `invalid - ${pythonText(message)}`

/** Describes one definition. The interface version that an OS declares decides which parts it may have. */
function definition([path, valid, message, variants, parameters, versions, trusted]: readonly unknown[]): string {
  const part = (title: string, values: readonly unknown[], none = `no ${title}`) =>
    values.length === 0 ? ` [${none}]` : ` [${title}: ${values.map(pythonText).join(', ')}]`
  const newest = Math.max(0, ...list(versions).map(Number))
  return [
    `${osStatus(valid, message)} (path: ${pythonText(path)})`,
    part('API versions', list(versions), 'no API versions declared'),
    newest >= 15 ? part('variants', list(variants)) : '',
    newest >= 20
      ? part(
          'parameters',
          list(parameters).map((parameter) => list(parameter)[0]),
        )
      : '',
    trusted === true ? ' [trusted]' : ' [untrusted]',
  ].join('')
}

export async function modifyOs(call: Call): Promise<number> {
  const { options } = call
  const name = firstArgument(call)
  const hvparams = osHypervisors(options.idents('hvparams'))
  const [osparams, secret] = [options.keyValues('osparams'), options.keyValues('osparams_private')]
  const [hidden, blacklisted] = [options.optionalFlag('hidden'), options.optionalFlag('blacklisted')]
  const listed = (on: boolean | undefined) => (on === undefined ? undefined : [[on ? 'add' : 'remove', name]])
  const changes = {
    os_hvp: hvparams && { [name]: hvparams },
    osparams: osparams && Object.keys(osparams).length > 0 ? { [name]: osparams } : undefined,
    osparams_private_cluster: secret && { [name]: secret },
    hidden_os: listed(hidden),
    blacklisted_os: listed(blacklisted),
  }
  if (Object.values(changes).every((value) => value === undefined))
    throw new CommandFailure('At least one of OS parameters or hypervisor parameters must be passed')
  await call.jobs.run(opcodeOf(OpClusterSetParams, changes))
  return EXIT.ok
}

/** `-kvm` takes away what the OS has of its own for that hypervisor, `kvm:-acpi` one parameter. */
function osHypervisors(options: readonly IdentKeyValues[]) {
  if (options.length === 0) return undefined
  const input = options.map(([hv, values]): [string, object | null] =>
    values === null
      ? [hypervisorName(hv), null]
      : [hv, hypervisorParams(byIdent([[hv, values]])?.[hv], hypervisorName(hv), [null])],
  )
  return Object.fromEntries(input)
}
