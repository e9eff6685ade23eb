// Forms of the console: from the schema of a request to its fields, and from what is typed to its body.
import document from '../../../openapi/rapi.json'
import { belowOthers, ofCluster, parameterFields } from '../../../ui/src/forms/parameter-fields'
import { policyFieldsOfCluster, policyFieldsOfGroup } from '../../../ui/src/forms/policy-fields'
import { rangesOf } from '../../../ui/src/forms/ranges'
import { type BodySchema, fieldOf, otherFields, type Schema } from '../../../ui/src/forms/schema'
import { bodyOf, complaintOf, complaintsOf } from '../../../ui/src/forms/values'
import { gntText } from '../../../ui/src/parts/gnt'
import { policyFlags } from '../../../ui/src/parts/ipolicy'
import { parseSize, sizeText, sizeWord } from '../../../ui/src/format/size'

interface Documented {
  readonly post: {
    readonly requestBody: {
      readonly content: { readonly 'application/json': { readonly schema: Partial<BodySchema> } }
    }
  }
}

function bodySchema(path: string): BodySchema {
  const documented = (document.paths as unknown as Readonly<Record<string, Documented>>)[path]
  const { properties = {}, required = [] } = documented?.post.requestBody.content['application/json'].schema ?? {}
  return { properties, required }
}

const migrate = bodySchema('/3/instances/{name}/migrate')
const create = bodySchema('/3/instances')
const grow = bodySchema('/3/instances/{name}/disks/{index}/grow')

test('a parameter becomes a field of its kind, with its default, its choices and what it means', () => {
  expect(fieldOf(create, 'start')).toMatchObject({ kind: 'switch', initial: true, label: 'Start', required: false })
  expect(fieldOf(create, 'instance_name')).toMatchObject({ kind: 'text', required: true, label: 'Instance name' })
  // Its description is its name again.
  expect(fieldOf(create, 'disk_template')).toMatchObject({ kind: 'choice', initial: '', text: undefined })
  expect(fieldOf(create, 'tags')).toMatchObject({ kind: 'words', initial: [] })
  expect(fieldOf(create, 'osparams')).toMatchObject({ kind: 'pairs', initial: {} })
  expect(fieldOf(create, 'no_install')).toMatchObject({ kind: 'choice', initial: '' })
  expect(fieldOf(grow, 'amount', { size: true })).toMatchObject({ kind: 'size', initial: '' })
  expect(fieldOf(migrate, 'iallocator').text).toContain('Allocator name')
})

test('words of the form take the place of those of the schema', () => {
  expect(fieldOf(migrate, 'target_node', { label: 'To' })).toMatchObject({ label: 'To', text: undefined })
})

test('a parameter that the request has not is a mistake of the console', () => {
  expect(() => fieldOf(migrate, 'color')).toThrow('The request has no parameter color')
})

test('all other parameters have a field, but for names by uuid and old spellings', () => {
  const names = otherFields(migrate, ['target_node']).map(({ name }) => name)
  expect(names).toContain('ignore_ipolicy')
  expect(names).not.toContain('target_node')
  expect(names).not.toContain('target_node_uuid')
  expect(names).not.toContain('live')
})

test('a body has what is not as it is without it, in the types of the request', () => {
  const fields = [
    fieldOf(create, 'start'),
    fieldOf(create, 'ip_check'),
    fieldOf(create, 'no_install'),
    fieldOf(create, 'tags'),
    fieldOf(grow, 'amount', { size: true }),
    fieldOf(create, 'helper_startup_timeout'),
  ]
  expect(bodyOf(fields, {})).toEqual({})
  const typed = { start: false, ip_check: false, no_install: 'true', tags: ['a'], amount: '1.5g' }
  expect(bodyOf(fields, { ...typed, helper_startup_timeout: '60' })).toEqual({
    ...{ start: false, no_install: true, tags: ['a'], amount: 1536, helper_startup_timeout: 60 },
  })
})

test('what is emptied goes back to what it is otherwise', () => {
  const field = { ...fieldOf(create, 'hypervisor', { initial: 'kvm' }), cleared: 'default' }
  expect(bodyOf([field], { hypervisor: '' })).toEqual({ hypervisor: 'default' })
})

test('a complaint names its field, and what is wrong is not sent', () => {
  const amount = { ...fieldOf(grow, 'amount', { size: true, label: 'New size' }), required: true }
  expect(complaintOf(amount, '')).toBe('New size: is missing')
  expect(complaintOf(amount, 'ten parsecs')).toBe('New size: must be a size such as 512m, 10g or 1.5t')
  expect(bodyOf([amount], { amount: 'ten parsecs' })).toEqual({})
  const timeout = fieldOf(bodySchema('/3/instances/{name}/shutdown'), 'timeout')
  expect(complaintsOf([timeout], { timeout: -1 })).toEqual({ timeout: 'Timeout: must be 0 or more' })
  expect(complaintsOf([timeout], { timeout: '1.5' })).toEqual({ timeout: 'Timeout: must be a whole number' })
  expect(complaintOf({ kind: 'json', name: 'x', label: 'X', initial: '' }, '{')).toBe('X: is no JSON')
})

test.each([
  ['512', 512],
  ['10g', 10240],
  [' 1.5 GiB ', 1536],
  ['0,5t', 524288],
  ['2M', 2],
  ['', undefined],
  ['g', undefined],
  ['-1g', undefined],
  ['10 parsecs', undefined],
])('the size %j is %j MiB', (text, mib) => {
  expect(parseSize(text)).toBe(mib)
})

test.each([16, 512, 1024, 1536, 10240, 1048576, 3 * 1048576])('%d MiB are typed again as they are shown', (mib) => {
  expect(parseSize(sizeWord(mib))).toBe(mib)
  expect(parseSize(sizeText(mib))).toBe(mib)
})

const NODE_PARAMETERS = { properties: document.components.schemas.NodeParameters.properties } as Schema

test('parameters of a dictionary have a field each, of the type that the document says, and what changes is sent within it', () => {
  const all = { ...{ ssh_port: 22, ovs: true, cpu_speed: 1, ovs_name: 'switch1' }, ours: { a: 1 } }
  const fields = parameterFields(belowOthers(['ndparams'], NODE_PARAMETERS, all, { ovs: true }))
  const byLabel = Object.fromEntries(fields.map((field) => [field.label, field]))
  expect(byLabel).toMatchObject({
    cpu_speed: { kind: 'number', fraction: true, placeholder: '1', initial: '' },
    ovs: { kind: 'choice', placeholder: 'inherited', initial: 'true' },
    ovs_name: { kind: 'text', placeholder: 'switch1', initial: '', quoted: true },
    ssh_port: { kind: 'number', placeholder: '22', initial: '' },
    ours: { kind: 'json', placeholder: '{"a":1}', initial: '' },
  })
  expect(byLabel['ovs']?.text).toMatch(/Default: No\.$/)
  expect(byLabel['ssh_port']?.text).not.toContain('Built in')
  expect(bodyOf(fields, {})).toEqual({})
  const typed = { ssh_port: 2222, ovs: '', cpu_speed: '1.5', ovs_name: '""', ours: '{"b": 2}' }
  expect(bodyOf(fields, within('ndparams', typed))).toEqual({
    ndparams: { ssh_port: 2222, ovs: 'default', cpu_speed: 1.5, ovs_name: '', ours: { b: 2 } },
  })
  expect(complaintsOf(fields, within('ndparams', { cpu_speed: 'fast', ssh_port: '1.5' }))).toEqual(
    within('ndparams', { cpu_speed: 'cpu_speed: must be a number', ssh_port: 'ssh_port: must be a whole number' }),
  )
})

const within = (at: string, values: object) =>
  Object.fromEntries(Object.entries(values).map(([name, value]: [string, unknown]) => [`${at}/${name}`, value]))

test('a field of the cluster that is emptied is what is built in again, whatever its type', () => {
  const schema = { properties: document.components.schemas.HypervisorParameters.properties.kvm.properties } as Schema
  const values = { acpi: false, kernel_path: '', vnc_bind_address: '', cpu_sockets: 2, disk_cache: 'none' }
  const fields = parameterFields(ofCluster(['hvparams', 'kvm'], schema, values))
  const initial = Object.fromEntries(fields.map(({ label, initial: one }) => [label, one]))
  expect(initial).toMatchObject({ acpi: 'false', kernel_path: '""', vnc_bind_address: '', disk_cache: 'none' })
  expect(
    bodyOf(fields, within('hvparams/kvm', { acpi: '', kernel_path: '', cpu_sockets: '', disk_cache: '' })),
  ).toEqual({
    hvparams: { kvm: { acpi: true, kernel_path: '/boot/vmlinuz-3-kvmU', cpu_sockets: 0, disk_cache: 'default' } },
  })
})

const SPEC = { 'disk-count': 1, 'cpu-count': 1, 'nic-count': 1, 'spindle-use': 1, 'disk-size': 1024 }
const spec = (memory: number) => ({ 'memory-size': memory, ...SPEC })
const POLICY = {
  minmax: [
    { min: spec(128), max: spec(1024) },
    { min: spec(4096), max: spec(6144) },
  ],
  ...{ std: spec(512), 'disk-templates': ['file', 'plain'], 'vcpu-ratio': 4, 'spindle-ratio': 2.5 },
}

test('a policy keeps all its ranges when one is changed, and what was not changed is not sent', () => {
  const fields = policyFieldsOfCluster(POLICY)
  expect(bodyOf(fields, {})).toEqual({})
  const ranges = fields.find(({ kind }) => kind === 'ranges')
  const [first, second] = rangesOf(ranges?.initial)
  if (first === undefined || second === undefined) throw new Error('The ranges have no fields')
  expect(second.min).toMatchObject({ 'memory-size': '4g', 'cpu-count': '1' })
  const changed = { ...second, max: { ...second.max, 'memory-size': '8g' } }
  expect(bodyOf(fields, { 'ipolicy/minmax': [first, changed], 'ipolicy/std/memory-size': '1g' })).toEqual({
    ipolicy: { minmax: [POLICY.minmax[0], { min: spec(4096), max: spec(8192) }], std: { 'memory-size': 1024 } },
  })
  const wrong = { ...second, max: { ...second.max, 'memory-size': '1g' } }
  expect(complaintsOf(fields, { 'ipolicy/minmax': [first, wrong] })).toEqual({
    'ipolicy/minmax': 'Range 2, maximum: Memory: must not be less than the minimum',
  })
  expect(complaintsOf(fields, { 'ipolicy/minmax': [], 'ipolicy/std/memory-size': '' })).toEqual({
    ...{ 'ipolicy/minmax': 'Range: is missing', 'ipolicy/std/memory-size': 'Memory: is missing' },
  })
})

test("a group's part of a policy that is emptied is the cluster's again", () => {
  const fields = policyFieldsOfGroup(POLICY, { minmax: POLICY.minmax, 'vcpu-ratio': 4, 'disk-templates': ['file'] })
  expect(fields.map(({ name }) => name)).not.toContain('ipolicy/std/memory-size')
  const typed = { 'ipolicy/minmax': [], 'ipolicy/vcpu-ratio': '', 'ipolicy/disk-templates': [] }
  expect(complaintsOf(fields, typed)).toEqual({})
  const ipolicy = { minmax: [], 'vcpu-ratio': 'default', 'disk-templates': [] }
  expect(bodyOf(fields, typed)).toEqual({ ipolicy })
  expect(gntText('group modify', policyFlags(ipolicy), ['g1'])).toBe(
    'gnt group modify --ipolicy-vcpu-ratio=default --ipolicy-disk-templates=default --ipolicy-bounds-specs=default g1',
  )
})
