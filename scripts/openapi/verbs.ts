// Adds the verbs of objects to the document, from their table.
import { type ObjectVerb, objectVerbs, partsOf, saidByAddress } from '../../src/daemons/rapi/v3/object-verbs'
import type { Schema } from '../../src/lib/shapes/shape'
import { interfaceName } from '../opcode-interfaces'
import { bodyWithout } from './bodies'
import type { Operation, Spec } from './document'
import { markParameters } from './scope'

export function addVerbs(spec: Spec): void {
  // All addresses submit jobs in the same way.
  const submit = spec.paths['/3/jobs']?.['post']
  if (submit === undefined) throw new Error('no controller of /3 submits jobs')
  const headers = (submit.parameters ?? []).filter((parameter) => parameter['in'] === 'header')
  for (const entry of objectVerbs) {
    const operations = (spec.paths[entry.path] ??= {})
    operations[entry.verb] = { ...operationOf(entry, spec), responses: { ...submit.responses } }
    operations[entry.verb]?.parameters?.push(...headers.map((header) => ({ ...header })))
  }
}

function operationOf(entry: ObjectVerb, spec: Spec): Operation {
  const { path, opcode, preset } = entry
  const said = new Set<string | undefined>(saidByAddress(entry))
  const whole = nullsOf(entry, markParameters(opcode, spec.components.schemas[interfaceName(opcode)] ?? {}))
  const required = (whole.required ?? []).filter((name) => !said.has(name))
  const presets = Object.entries(preset).map(
    ([name, value]) => ` Without \`${name}\` it is \`${typeof value === 'string' ? value : JSON.stringify(value)}\`.`,
  )
  const preset_or_required = { ...whole, required: required.filter((name) => !Object.hasOwn(preset, name)) }
  const isNeeded = preset_or_required.required.length > 0
  return {
    operationId: operationId(entry),
    description: `${opcode.doc} A job of ${opcode.id}.${presets.join('')}`,
    tags: [subjectOf(path)],
    parameters: [...partsOf(path).map(pathParameter), ...QUERY],
    requestBody: {
      ...(isNeeded && { required: true }),
      content: { 'application/json': { schema: bodyWithout(preset_or_required, said) } },
    },
    responses: {},
  }
}

/** In a change, null is only for what it can take away. */
function nullsOf<S extends Schema>({ verb, cleared }: ObjectVerb, schema: S): S {
  if (verb !== 'patch') return schema
  const properties = Object.entries(schema.properties ?? {}).map(([name, { nullable: _, ...property }]) => [
    name,
    { ...property, ...(Object.hasOwn(cleared, name) && { nullable: true }) },
  ])
  return { ...schema, properties: Object.fromEntries(properties) as NonNullable<Schema['properties']> }
}

const subjectOf = (path: string): string => (path.split('/')[2] ?? '').replace('-multi-alloc', '')

/** `InstancesV3_disksGrow` */
function operationId({ verb, path }: ObjectVerb): string {
  const [, , resource = '', ...rest] = path.split('/')
  const words = rest.filter((part) => !part.startsWith('{')).flatMap((part) => part.split('-'))
  const plain = ({ post: 'create', patch: 'change', delete: 'remove' } as Record<string, string>)[verb] ?? verb
  const name = verb === 'post' && words.length > 0 ? words : [plain, ...words]
  const camel = (parts: readonly string[]) =>
    parts.map((part, at) => (at === 0 ? part : part.charAt(0).toUpperCase() + part.slice(1))).join('')
  const subject = camel(['', ...resource.split('-')])
  return `${subject}V3_${camel(name)}`
}

const pathParameter = (name: string) => ({
  ...{ in: 'path', name, required: true },
  ...(name === 'tag' && { description: 'The tag.' }),
  schema: name === 'index' ? { type: 'integer', format: 'int32' } : { type: 'string' },
})

const QUERY = [
  {
    ...{ in: 'query', name: 'reason', required: false, schema: { type: 'string' } },
    description: 'Why this is done. It is kept in the reason trail of the job.',
  },
  {
    ...{ in: 'query', name: 'plan', required: false, schema: { type: 'string' } },
    description:
      'The id of a plan for this request, made with `POST /3/plans`: the request is refused if anything that the plan has read has changed since.',
  },
]
