// The options that would recreate an instance policy.
import type { Call } from '../command'
import { EXIT } from '../outcome'

type Fields = Readonly<Record<string, unknown>>

interface PolicyCommand {
  readonly name: string
  readonly command: string
}

export async function clusterPolicy({ master }: Call): Promise<PolicyCommand> {
  const info: Fields = { ...(await master.queryClusterInfo()) }
  const name = String(info['name'])
  return { name, command: `gnt-cluster init${optionsOf(fieldsOf(info['ipolicy']), true)} ${name}` }
}

export async function groupPolicies({ args, options, master }: Call): Promise<PolicyCommand[]> {
  const field = options.flag('include_defaults') ? 'ipolicy' : 'custom_ipolicy'
  const rows = await master.queryGroups(args, ['name', field], false)
  return rows.map(([group, policy]) => {
    const name = String(group)
    return { name, command: `gnt-group add${optionsOf(fieldsOf(policy), false)} ${name}` }
  })
}

export async function showClusterPolicy(call: Call): Promise<number> {
  call.terminal.out((await clusterPolicy(call)).command)
  return EXIT.ok
}

export async function showGroupPolicies(call: Call): Promise<number> {
  for (const { command } of await groupPolicies(call)) call.terminal.out(command)
  return EXIT.ok
}

/** Only sizes, as in Ganeti. Only the cluster has standard sizes. */
function optionsOf(policy: Fields, withStandard: boolean): string {
  const standard = withStandard ? fieldsOf(policy['std']) : {}
  const bounds: unknown[] = Array.isArray(policy['minmax']) ? policy['minmax'] : []
  const pairs = bounds.map((pair) => {
    const { min, max } = { min: null, max: null, ...fieldsOf(pair) }
    return `min:${specs(fieldsOf(min))}/max:${specs(fieldsOf(max))}`
  })
  return [
    ...(Object.keys(standard).length === 0 ? [] : [` --ipolicy-std-specs ${specs(standard)}`]),
    ...(pairs.length === 0 ? [] : [` --ipolicy-bounds-specs ${pairs.join('//')}`]),
  ].join('')
}

const specs = (values: Fields): string =>
  Object.entries(values)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(',')

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? { ...value } : {})
