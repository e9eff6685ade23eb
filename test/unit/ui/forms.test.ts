// Forms of the console: from the schema of a request to its fields, and from what is typed to its body.
import document from '../../../openapi/rapi.json'
import { fieldsWithin, isFlat } from '../../../ui/src/forms/parameter-fields'
import { type BodySchema, fieldOf, otherFields } from '../../../ui/src/forms/schema'
import { bodyOf, complaintOf, complaintsOf } from '../../../ui/src/forms/values'
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
  expect(fieldOf(create, 'disk_template')).toMatchObject({ kind: 'choice', initial: '' })
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

test('parameters of a dictionary have a field each, and what changes is sent within it', () => {
  const fields = fieldsWithin('ndparams', { ssh_port: 22, ovs: false, cpu_speed: 1 }, { ovs: true })
  expect(fields).toMatchObject([
    { name: 'cpu_speed', kind: 'text', placeholder: '1', initial: '' },
    { name: 'ovs', kind: 'choice', placeholder: 'inherited', initial: 'true' },
    { name: 'ssh_port', kind: 'number', placeholder: '22', initial: '' },
  ])
  expect(bodyOf(fields, {})).toEqual({})
  expect(bodyOf(fields, { ssh_port: 2222, ovs: '', cpu_speed: '1.5' })).toEqual({
    ndparams: { ssh_port: 2222, ovs: 'default', cpu_speed: '1.5' },
  })
  expect([isFlat({ a: 1, b: null }), isFlat({ a: [] }), isFlat([1]), isFlat(7)]).toEqual([true, false, false, false])
})
