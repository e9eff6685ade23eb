// The marks `x-within-scope` of the document agree with the master's decisions: both are asked about the same values.
import Ajv from 'ajv'
import document from '../../../../openapi/rapi.json'
import { objectVerbs } from '../../../../src/daemons/rapi/v3/object-verbs'
import { BE_TYPES, ND_TYPES, NIC_TYPES } from '../../../../src/model/constants/params'
import { HV_PARAMS, HYPERVISORS } from '../../../../src/model/constants/hypervisors'
import { allOpcodes, opcodeClass } from '../../../../src/opcodes/index'
import type { WireOpCode } from '../../../../src/rpc/luxi/calls'
import { notSettable } from '../../../../src/services/access/settable'
import { refusedPart, withinOf } from '../../../../ui/src/forms/within-scope'
import type { Schema } from '../../../../ui/src/forms/schema'

const schemas = document.components.schemas as unknown as Readonly<Record<string, Schema>>
const paths = document.paths as unknown as Readonly<Record<string, Readonly<Record<string, unknown>>>>
const ajv = new Ajv({ strict: false })

const withHvparams = (hvparams: unknown): WireOpCode => ({ OP_ID: 'OP_INSTANCE_SET_PARAMS', hvparams })

/** Names inside parameters, and an unknown one. */
const NAMES = [
  ...new Set(Object.values(HV_PARAMS).flatMap((params) => Object.keys(params))),
  ...[...Object.keys(BE_TYPES), ...Object.keys(ND_TYPES), ...Object.keys(NIC_TYPES), 'memory', 'ip', 'mac', 'network'],
  ...['size', 'name', 'vg', 'metavg', 'adopt', 'spindles', 'provider', 'access'],
  ...['os-image', 'image', 'dhcp', 'drbd', 'resync-rate', 'minmax', 'unheard_of'],
]
const TEXTS = ['', 'x', 'default', 'scsi', 'scsi-block', 'loop', 'blktap', '..', 'exports/vm1']

test.each([...allOpcodes.values()].map((definition) => [definition.id, definition] as const))(
  '%s: the marks of all its parameters are as the master decides',
  (OP_ID, { params }) => {
    const { properties = {} } = schemas[opcodeClass(OP_ID)] ?? {}
    for (const name of Object.keys(params)) {
      const schema = properties[name]
      if (schema === undefined) throw new Error(`${OP_ID}.${name} is not in the document`)
      const isMarkedFor = ajv.compile(marksOf(schema))
      const differing = valuesOf(schema).filter((value) => isMarkedFor(value) !== isSettable({ OP_ID, [name]: value }))
      expect({ name, differing: differing.slice(0, 5) }).toEqual({ name, differing: [] })
    }
  },
)

test.each<[parameter: string, schema: Schema | undefined, op: (value: unknown) => WireOpCode]>([
  ...HYPERVISORS.map((name): [string, Schema | undefined, typeof withHvparams] => [
    ...([`hvparams of ${name}`, schemas['HypervisorParameters']?.properties?.[name], withHvparams] as const),
  ]),
  ['beparams', schemas['BackendParameters'], (beparams) => ({ OP_ID: 'OP_INSTANCE_SET_PARAMS', beparams })],
  ['nics', schemas['NicParameters'], (nic) => ({ OP_ID: 'OP_INSTANCE_CREATE', nics: [nic] })],
  ['ndparams', schemas['NodeParameters'], (ndparams) => ({ OP_ID: 'OP_NODE_SET_PARAMS', ndparams })],
  ['diskparams', schemas['DiskParameters'], (diskparams) => ({ OP_ID: 'OP_GROUP_SET_PARAMS', diskparams })],
  ['ipolicy', schemas['InstancePolicy'], (ipolicy) => ({ OP_ID: 'OP_GROUP_SET_PARAMS', ipolicy })],
])('%s: the marks inside are as the master decides, and as the console reads them', (_, schema = {}, op) => {
  const isMarkedFor = ajv.compile(marksOf(schema))
  const names = Object.keys(schema.properties ?? {})
  expect(names.length).toBeGreaterThan(0)
  for (const name of [...names, 'unheard_of'])
    for (const value of valuesOf(schema.properties?.[name] ?? ANY)) {
      const input = { [name]: value }
      const said = [input, isSettable(op(input))]
      expect([input, isMarkedFor(input)]).toEqual(said)
      expect([input, refusedPart(withinOf(schema, name) ?? true, value) === undefined]).toEqual(said)
    }
})

test('a request of /3 says the same as its opcode, and /2 says nothing, since it takes no tokens', () => {
  for (const { path, verb, opcode } of objectVerbs) {
    const { requestBody } = paths[path]?.[verb] as {
      requestBody: { content: { 'application/json': { schema: Schema } } }
    }
    const { properties = {} } = requestBody.content['application/json'].schema
    const { properties: whole = {} } = schemas[opcodeClass(opcode.id)] ?? {}
    for (const [name, schema] of Object.entries(properties)) {
      // Null in an opcode stands for a parameter that is not given; a change refuses it where it would do nothing.
      const ofOpcode = whole[name] ?? {}
      const same = takesNull(schema) ? ofOpcode : withoutNull(ofOpcode)
      expect([path, name, schema]).toEqual([path, name, same])
    }
  }
  const older = Object.entries(paths).filter(([path]) => path.startsWith('/2/'))
  expect(older.length).toBeGreaterThan(50)
  expect(JSON.stringify(older)).not.toContain('x-within-scope')
})

type Nullable = Schema & { nullable?: boolean }

const takesNull = ({ nullable, anyOf = [] }: Nullable): boolean => nullable === true || anyOf.some(takesNull)

function withoutNull({ nullable: _, enum: values, anyOf, ...schema }: Nullable): Schema {
  return {
    ...schema,
    ...(values && { enum: values.filter((value) => value !== null) }),
    ...(anyOf && { anyOf: anyOf.filter((choice) => !takesNull(choice)) }),
  }
}

const isSettable = (op: WireOpCode): boolean => notSettable(op) === undefined

/** The marks of a schema as a JSON schema, without the schema itself. */
function marksOf({ 'x-within-scope': within = true, ...schema }: Schema): Record<string, unknown> {
  const { properties = {}, items, anyOf = [], additionalProperties: others } = schema
  const inside = Object.entries(properties).map(([name, one]) => [name, marksOf(one)] as const)
  return {
    allOf: [within, ...anyOf.map(marksOf)],
    properties: Object.fromEntries(inside),
    ...(items !== undefined && { items: marksOf(items) }),
    ...(typeof others === 'object' && { additionalProperties: marksOf(others) }),
  }
}

/** Schemas rarely say the values in a dictionary. `scsi-block` is for no disk of a guest. */
const ANY: Schema = { enum: ['x', 'scsi', 'scsi-block'] }

/** Sample values of the schema's types. Dictionaries have each of the names once. */
function valuesOf({ type, enum: values, anyOf, items, properties = {}, additionalProperties }: Schema): unknown[] {
  if (anyOf !== undefined) return anyOf.flatMap(valuesOf)
  // Null is as if the parameter were not given.
  if (values !== undefined) return values.filter((value) => value !== null)
  switch (type) {
    case 'boolean':
      return [true, false]
    case 'integer':
    case 'number':
      return [0, 1]
    case 'string':
      return TEXTS
    case 'array':
      return [[], ...valuesOf(items ?? {}).map((value) => [value])]
    case 'object': {
      const others = typeof additionalProperties === 'object' ? additionalProperties : ANY
      const names = new Set([...(additionalProperties === false ? [] : NAMES), ...Object.keys(properties)])
      return [
        {},
        ...[...names].flatMap((name) => valuesOf(properties[name] ?? others).map((value) => ({ [name]: value }))),
      ]
    }
    default:
      return [true, 0, ...TEXTS, ...valuesOf({ type: 'object' })]
  }
}
