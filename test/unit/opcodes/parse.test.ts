// Values of opcodes that need more than a type: networks, devices.
import vectors from '../../golden/opcodes/vectors.json'
import { Mismatch, isObject } from '../../../src/lib/shapes/shape'
import { allOpcodes } from '../../../src/opcodes/all'
import { OpGroupAdd } from '../../../src/opcodes/group'
import { OpInstanceCreate, OpInstanceMultiAlloc, OpInstanceStartup } from '../../../src/opcodes/instance'
import { OpNetworkAdd } from '../../../src/opcodes/network'
import { fillOpcode, inDeclaredOrder, op, opcodeClass, parseOpcode } from '../../../src/opcodes/parse'
import {
  opcodeSummary,
  redact,
  redactPrivate,
  redactSecrets,
  secretsOf,
  withSecrets,
} from '../../../src/opcodes/summary'

interface Vector {
  input: unknown
  rejected?: string
  accepted?: Record<string, unknown>
  summary?: string
}
const recorded: Vector[] = vectors.opcodes

describe('networks', () => {
  const parsed = (network: string, network6?: string) =>
    fillOpcode(OpNetworkAdd, { network_name: 'n', network, ...(network6 && { network6 }) })

  test.each(['10.5.0.0/29', '10.0.0.0/8', '10.5.0.1/32', '0.0.0.0/0'])('%s is one', (network) => {
    expect(parsed(network)).toMatchObject({ network })
  })
  test.each(['2001:db8::/32', '::/0', 'fe80::1/128', '2001:db8:1:2:3:4:5:0/112', '::ffff:10.0.0.0/104'])(
    '%s is one',
    (network6) => {
      expect(parsed('10.0.0.0/24', network6)).toMatchObject({ network6 })
    },
  )
  test.each(['10.5.0.1/29', '10.5.0.0/8', '0.0.0.1/31'])('%s has bits of a host', (network) => {
    expect(() => parsed(network)).toThrow(
      /^Parameter 'OP_NETWORK_ADD.network' fails validation: "[\d./]+" has host bits set/,
    )
  })
  test.each(['2001:db8::1/64', '2001:db8:1::/32', '1::/0'])('%s has bits of a host', (network6) => {
    expect(() => parsed('10.0.0.0/24', network6)).toThrow(/OP_NETWORK_ADD.network6' .* has host bits set/)
  })
})

test.each(['OP_TAGS_SET', 'OP_TAGS_DEL', 'OP_INSTANCE_CREATE', 'OP_NETWORK_ADD'])(
  '%s takes no more tags than an object may have',
  (id) => {
    const definition = allOpcodes.get(id)
    const params = { kind: 'cluster', network_name: 'n', network: '10.0.0.0/24', instance_name: 'i', mode: 'create' }
    const tags = (count: number) => Array.from({ length: count }, (_, at) => `t${at}`)
    const withTags = (count: number) => {
      const known = Object.entries({ ...params, disks: [], nics: [], tags: tags(count) })
      return Object.fromEntries(known.filter(([name]) => definition !== undefined && name in definition.params))
    }
    if (definition === undefined) throw new Error(`no ${id}`)
    expect(fillOpcode(definition, withTags(4096))).toMatchObject({ tags: tags(4096) })
    expect(() => fillOpcode(definition, withTags(4097))).toThrow(
      '4097 tags are more than the 4096 that an object may have',
    )
  },
)

test('the name of a device has no control characters', () => {
  const create = { instance_name: 'a', mode: 'create' }
  const filled = (more: object) => fillOpcode(OpInstanceCreate, { ...create, disks: [], nics: [], ...more })
  for (const name of ['a\nb', '\r[os]', '\x1b[2J']) {
    expect(() => filled({ disks: [{ size: 1, name }] })).toThrow(/OP_INSTANCE_CREATE.disks' fails validation/)
    expect(() => filled({ nics: [{ name }] })).toThrow(/OP_INSTANCE_CREATE.nics' fails validation/)
  }
})

test.each(['fe80::1%lo', 'fe80::1%25lo'])('an address with a zone is none: %s', (gateway6) => {
  const network = { network_name: 'n', network: '10.0.0.0/24', network6: 'fe80::/64', gateway6 }
  expect(() => fillOpcode(OpNetworkAdd, network)).toThrow(/OP_NETWORK_ADD.gateway6' fails validation/)
})

test.each([
  [{ instance_name: 'a\0b' }],
  [{ instance_name: 'a', hvparams: { kernel_args: 'ro\0' } }],
  [{ instance_name: 'a', hvparams: { 'x\0': { y: ['z'] } } }],
])('a text with a NUL is refused: %j', (params) => {
  expect(() => fillOpcode(OpInstanceStartup, params)).toThrow(/fails validation: A text has a NUL character/)
  expect(() => parseOpcode({ OP_ID: 'OP_INSTANCE_STARTUP', reason: [], ...params })).toThrow(
    /^Can't parse value for '(instance_name|hvparams)': A text has a NUL character/,
  )
})

describe('parseOpcode', () => {
  test.each(recorded.map((vector) => [JSON.stringify(vector.input).slice(0, 110), vector] as const))(
    'answers as luxid: %s',
    (_, { input, rejected, accepted, summary }) => {
      if (rejected !== undefined) {
        expect(() => parseOpcode(input)).toThrow(new Mismatch(rejected))
        return
      }
      const parsed = parseOpcode(input)
      expect(JSON.stringify(redactSecrets(parsed))).toBe(JSON.stringify(accepted))
      if (summary !== undefined) expect(opcodeSummary(parsed)).toBe(summary)
    },
  )

  test('reading its own output again changes nothing', () => {
    for (const { input, accepted } of recorded) {
      if (accepted === undefined) continue
      const parsed = parseOpcode(input)
      expect(parseOpcode(JSON.parse(JSON.stringify(parsed)))).toEqual(parsed)
    }
  })

  test('the vectors exercise every opcode of Ganeti', () => {
    const observed = new Set(recorded.flatMap(({ input }) => (isObject(input) ? [input['OP_ID']] : [])))
    const ours = [
      ...['OP_CLUSTER_BALANCE', 'OP_CLUSTER_CAPACITY', 'OP_CLUSTER_WHAT_IF', 'OP_REPAIR_COMMAND'],
      ...['OP_INSTANCE_REMOVE_SNAPSHOT', 'OP_INSTANCE_ROLLBACK_SNAPSHOT', 'OP_INSTANCE_SNAPSHOT', 'OP_INSTANCE_REPAIR'],
    ]
    expect([...allOpcodes.keys()].filter((id) => !observed.has(id))).toEqual(ours)
    expect(allOpcodes.size).toBe(76 + ours.length)
  })

  test.each([
    ['a list', [], 'Unable to read JSObject'],
    ['no OP_ID', { reason: [] }, `key 'OP_ID' not found, object contains only ["reason"]`],
    ['a name with a prototype', { OP_ID: 'toString', reason: [] }, 'Unknown opcode toString'],
    [
      'a negative repeat',
      delay({ repeat: -1 }),
      `Can't parse value for 'repeat': Invalid value for non-negative type '-1'`,
    ],
    ['true for a number', delay({ repeat: true }), `Can't parse value for 'repeat': Unable to read Int`],
    [
      'a foreign NIC key',
      create({ nics: [{ mtu: '9000' }] }),
      /^Can't parse value for 'nics': Superfluous dictionary keys: \["mtu"\]/,
    ],
    [
      'an unknown unit',
      create({ disks: [{ size: '5q' }] }),
      /'disks': Can't parse value for 'size': Can't parse a size/,
    ],
    [
      'mixed changes',
      modify({
        nics: [
          ['add', 0, {}],
          ['add', 'eth1', {}],
        ],
      }),
      /different forms in one list/,
    ],
  ])('refuses %s', (_, input, complaint) => {
    expect(() => parseOpcode(input)).toThrow(complaint)
  })

  test('sizes are whole MiB, in binary or decimal units', () => {
    const sizes = ['1g', '2TiB', '100', '1000mb', 7].map((size) => ({ size }))
    expect(parseOpcode(create({ disks: sizes }))['disks']).toEqual(
      [1024, 2 << 20, 100, 953, 7].map((size) => ({ size })),
    )
  })

  test('a key named like a built-in is superfluous, not accepted', () => {
    expect(() => parseOpcode(delay(JSON.parse('{"__proto__": 1, "constructor": 2}')))).toThrow(/^Superfluous/)
  })
})

describe('fillOpcode', () => {
  test('a missing parameter and one of the wrong kind fail validation alike', () => {
    const complaint = `Parameter 'OP_GROUP_ADD.group_name' fails validation`
    expect(() => fillOpcode(OpGroupAdd, {})).toThrow(new Error(complaint))
    expect(() => fillOpcode(OpGroupAdd, { group_name: 5 })).toThrow(new Error(complaint))
  })

  test('an unknown parameter is named with the class', () => {
    const complaint = `Object OpGroupAdd doesn't support the parameter 'bogus'`
    expect(() => fillOpcode(OpGroupAdd, { group_name: 'x', bogus: 1 })).toThrow(new Error(complaint))
  })

  test('op fills defaults and keeps the order of the wire', () => {
    const filled = op(OpInstanceStartup, { instance_name: 'a', force: true }, { dry_run: true })
    expect(JSON.stringify(filled)).toBe(
      '{"dry_run":true,"priority":0,"depends":null,"comment":null,"reason":[],"OP_ID":"OP_INSTANCE_STARTUP",' +
        '"instance_name":"a","force":true,"ignore_offline_nodes":false,"hvparams":{},"beparams":{},' +
        '"no_remember":false,"startup_paused":false,"shutdown_timeout":120}',
    )
  })

  test('an inherited name is no parameter', () => {
    expect(() => fillOpcode(OpGroupAdd, { group_name: 'x', constructor: 1 })).toThrow(/parameter 'constructor'$/)
  })

  test('class names are those of Ganeti', () => {
    expect(opcodeClass('OP_INSTANCE_SET_PARAMS')).toBe('OpInstanceSetParams')
    expect(opcodeClass('OP_TEST_OS_PARAMS')).toBe('OpTestOsParams')
  })
})

test('a parameter that is added to an opcode stands in its declared place', () => {
  const opcode = op(OpInstanceStartup, { instance_name: 'a' })
  const more = inDeclaredOrder({ later: 1, ...opcode, debug_level: 0, instance_uuid: 'u' })
  const { instance_name, ...rest } = opcode
  const { priority, depends, comment, reason, OP_ID, ...own } = rest
  const names = ['debug_level', ...Object.keys({ priority, depends, comment, reason, OP_ID, instance_name })]
  expect(Object.keys(more)).toEqual([...names, 'instance_uuid', ...Object.keys(own), 'later'])
})

describe('secrets', () => {
  const secretive = parseOpcode(create({ osparams_secret: { a: 'S' }, osparams_private: { b: 'P' } }))

  test('secret values are blanked for storage, private ones too for logs', () => {
    expect(redactSecrets(secretive)).toMatchObject({
      osparams_secret: { a: '<redacted>' },
      osparams_private: { b: 'P' },
    })
    expect(redact(secretive)).toMatchObject({
      osparams_secret: { a: '<redacted>' },
      osparams_private: { b: '<redacted>' },
    })
    expect(redactPrivate(secretive)).toMatchObject({ osparams_private: { b: null } })
    expect(secretive).toMatchObject({ osparams_secret: { a: 'S' }, osparams_private: { b: 'P' } })
  })

  test('secrets travel apart and come back', () => {
    expect(secretsOf(secretive)).toEqual({ osparams_secret: { a: 'S' } })
    expect(withSecrets(redactSecrets(secretive), secretsOf(secretive))).toEqual(secretive)
    expect(secretsOf(parseOpcode(create({})))).toBeNull()
  })

  test('secrets inside a multi-allocation are found', () => {
    const many = op(OpInstanceMultiAlloc, { instances: [{ instance_name: 'x', osparams_secret: { a: 'S' } }, {}] })
    expect(JSON.stringify(redactSecrets(many))).not.toContain('"S"')
    expect(withSecrets(redactSecrets(many), secretsOf(many))).toEqual(many)
  })
})

function delay(more: object): object {
  return { OP_ID: 'OP_TEST_DELAY', reason: [], duration: 1, ...more }
}

function create(more: object): object {
  const required = { instance_name: 'a', mode: 'create', disks: [], nics: [] }
  return { OP_ID: 'OP_INSTANCE_CREATE', reason: [], ...required, ...more }
}

function modify(more: object): object {
  return { OP_ID: 'OP_INSTANCE_SET_PARAMS', reason: [], instance_name: 'a', ...more }
}

test('a client of Ganeti 3.0 may give both of its flags for devices that are changed live', () => {
  const parsed = (flags: object) =>
    parseOpcode({ OP_ID: 'OP_INSTANCE_SET_PARAMS', instance_name: 'vm', reason: [], ...flags })
  expect(parsed({})).toMatchObject({ hotplug: true })
  for (const [hotplug, hotplug_if_possible] of [
    [true, false],
    [false, true],
    [false, false],
  ]) {
    const op = parsed({ hotplug, hotplug_if_possible })
    expect(op).toMatchObject({ hotplug: hotplug || hotplug_if_possible })
    expect(op).not.toHaveProperty('hotplug_if_possible')
  }
  expect(() => parsed({ hotplug_if_possible: 'x' })).toThrow(/hotplug/)
})
