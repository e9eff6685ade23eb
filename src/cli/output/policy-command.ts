// The options that would recreate an instance policy.
import type { Call } from '../command'
import { EXIT } from '../outcome'

type Fields = Readonly<Record<string, unknown>>

export async function showClusterPolicy({ master, terminal }: Call): Promise<number> {
  const info: Fields = { ...(await master.queryClusterInfo()) }
  terminal.out(`gnt-cluster init${optionsOf(fieldsOf(info['ipolicy']), true)} ${String(info['name'])}`)
  return EXIT.ok
}

export async function showGroupPolicies({ args, options, master, terminal }: Call): Promise<number> {
  const field = options.flag('include_defaults') ? 'ipolicy' : 'custom_ipolicy'
  for (const [name, policy] of await master.queryGroups(args, ['name', field], false))
    terminal.out(`gnt-group add${optionsOf(fieldsOf(policy), false)} ${String(name)}`)
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
