// What pages read out of answers whose shape is another program's.
import document from '../../../../openapi/rapi.json'
import { differences, parameterText, SIZES } from '../../../../ui/src/format/differences'
import { findingOf, findingsOf } from '../../../../ui/src/parts/findings'
import { interfacesOf, statusOf } from '../../../../ui/src/pages/nodes/reports'
import { nodeStatesOf } from '../../../../ui/src/pages/os/node-states'
import { actionText, ruleBody, whenText, whyText } from '../../../../ui/src/pages/rules/rule'
import { limitsOf, listText } from '../../../../ui/src/parts/ipolicy'

test.each([
  ['  - ERROR: node node1: unresponsive', ['error', 'node', 'node1', 'unresponsive']],
  ['- WARNING: instance vm1: <b>odd</b>: twice', ['warning', 'instance', 'vm1', '<b>odd</b>: twice']],
  ['ERROR: cluster: no room', ['error', 'cluster', '', 'no room']],
  ['- ERROR: something else', ['error', 'cluster', '', 'something else']],
])('verify says %j', (line, [level, kind, name, text]) => {
  expect(findingOf(line)).toEqual([{ level, kind, name, text }])
})

test('lines of verify that find nothing are no findings', () => {
  const log = ['* Verifying node status', { more: 1 }, '- ERROR: node n: x'].map((message) => ({ message }))
  expect(findingsOf({ ops: [{ log }] } as unknown as Parameters<typeof findingsOf>[0])).toHaveLength(1)
})

test('a collector tells a state with its message, or why it has none', () => {
  expect(statusOf({ name: 'drbd', kind: 1, data: { status: { code: 4, message: 'degraded' } } })).toEqual({
    ...{ code: 4, message: 'degraded' },
  })
  const message = '\nrapi does not run\nmond does not run'
  expect(statusOf({ name: 'daemons', kind: 1, data: { status: { code: 4, message } } })).toEqual({
    ...{ code: 4, message: 'rapi does not run; mond does not run' },
  })
  expect(statusOf({ name: 'lv', kind: 0, data: { error: 'no lvs' } })).toEqual({ code: 4, message: 'no lvs' })
  expect(statusOf({ name: 'load', kind: 0, data: [1, 2] })).toBe(undefined)
  expect(statusOf({ name: 'odd', kind: 1, data: {} })).toBe(undefined)
})

test('interfaces are read as far as they are there', () => {
  const interfaces = [{ name: 'br0', state: 'up', address: '02:00', mtu: 1500, speed_mbit: 1000 }, { name: 'lo' }, 1]
  expect(interfacesOf([{ name: 'system', kind: 0, data: { interfaces } }])).toEqual([
    { name: 'br0', state: 'up', address: '02:00', mtu: 1500, speed_mbit: 1000 },
    { name: 'lo', state: '', address: '', mtu: 0, speed_mbit: null },
  ])
  expect(interfacesOf([{ name: 'system', kind: 0, data: null }])).toEqual([])
})

test('each node says where it has an operating system, and what is wrong with it', () => {
  const status = { n1: [['/srv/os/x', true, '']], n2: [['/srv/os/x', false, 'no create script'], 'odd'], n3: [] }
  expect(nodeStatesOf(status)).toEqual([
    { node: 'n1', path: '/srv/os/x', valid: true, text: '' },
    { node: 'n2', path: '/srv/os/x', valid: false, text: 'no create script' },
  ])
  expect(nodeStatesOf(null)).toEqual([])
})

const RULE = {
  ...{ uuid: 'u', priority: 5, action: ['RATE_LIMIT', 3], watermark: 7 },
  predicates: [['opcode', ['&', ['=', 'OP_ID', 'OP_NODE_ADD'], ['!', ['>', 'priority', 1]]]]],
  reason_trail: [
    ['gnt:user', 'quiet hours', 1],
    ['luxid', '', 2],
  ],
}

test('a rule is told in words', () => {
  expect([actionText(RULE), whenText(RULE), whyText(RULE)]).toEqual([
    'At most 3 at the same time',
    '(OP_ID = OP_NODE_ADD and not priority > 1)',
    'quiet hours',
  ])
  expect([whenText({ predicates: [] }), actionText({ action: 'PAUSE' })]).toEqual(['All jobs', 'Hold'])
})

test('a rule that is changed keeps what was not touched', () => {
  expect(ruleBody({ priority: 1 }, RULE)).toEqual({
    ...{ priority: 1, action: ['RATE_LIMIT', 3], predicates: RULE.predicates, reason: 'quiet hours' },
  })
  expect(ruleBody({ action: 'REJECT', opcode: 'OP_NODE_ADD' })).toEqual({
    ...{ priority: 0, action: 'REJECT', predicates: [['opcode', ['=', 'OP_ID', 'OP_NODE_ADD']]] },
  })
})

test('a policy has a row for each resource, with all its ranges', () => {
  const minmax = [
    { min: { 'memory-size': 128 }, max: { 'memory-size': 1024 } },
    { min: { 'memory-size': 2048 }, max: { 'memory-size': 4096 } },
  ]
  expect(limitsOf({ std: { 'memory-size': 512 }, minmax, 'disk-templates': ['drbd', 'plain'] })).toEqual([
    { name: 'memory-size', least: '128 MiB | 2 GiB', standard: '512 MiB', most: '1 GiB | 4 GiB' },
  ])
  expect(listText({ 'disk-templates': ['drbd', 'plain'] }, 'disk-templates')).toBe('drbd, plain')
  expect([limitsOf(null), listText({}, 'vcpu-ratio')]).toEqual([[], '–'])
})

test('parameters that are sizes in the document are told with their unit', () => {
  const inDocument = (schema: object): string[] =>
    Object.entries(schema).flatMap(([name, value]) => {
      if (typeof value !== 'object' || value === null) return []
      return [...(Reflect.get(value, 'x-unit') === 'MiB' ? [name] : []), ...inDocument(value as object)]
    })
  const { BackendParameters, InstancePolicy } = document.components.schemas
  const named = new Set(inDocument({ BackendParameters, InstancePolicy }))
  expect([...SIZES].filter((name) => name !== 'disk.sizes').sort()).toEqual([...named].sort())
  expect(parameterText('maxmem', 2048)).toBe('2 GiB')
  expect(parameterText('disk.sizes', [512, 1024])).toBe('512 MiB, 1 GiB')
  expect([parameterText('maxmem', 'default'), parameterText('vcpus', 2048)]).toEqual(['default', '2048'])
  expect(differences({ be: { maxmem: 512 } }, { be: { maxmem: 1536 } })).toEqual([
    { name: 'be.maxmem', before: '512 MiB', after: '1.5 GiB' },
  ])
})
