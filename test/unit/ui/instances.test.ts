// What the console says of instances: where parameters come from, what a new one is, what templates can, and the same for gnt.
import { bodyOfDraft, gntOfDraft, partOf, plainOf } from '../../../ui/src/pages/instances/draft'
import { parameterField } from '../../../ui/src/forms/parameter-fields'
import { activeFilters, filterOf } from '../../../ui/src/pages/instances/list-filter'
import { foundParameters, originsOf } from '../../../ui/src/pages/instances/parameters'
import { stateOf } from '../../../ui/src/pages/instances/state'
import { TEMPLATES } from '../../../ui/src/pages/instances/templates'
import { differences } from '../../../ui/src/format/differences'
import { gntText } from '../../../ui/src/parts/gnt'
import { DISK_TEMPLATES, factsOf } from '../../../src/model/templates'
import { type ConsoleAction, consoleModule, fieldsFor, formOf } from '../../support/console-actions'

test('each value says who said it, and what it would be without the instance', () => {
  const found = originsOf(
    { a: 1, b: 2, c: 3, d: 4, e: 5 },
    {
      ...{ instance: { a: 1 }, os: { b: 2 } },
      ...{ cluster: { a: 9, b: 8, c: 3, d: 4 }, defaults: { a: 7, b: 7, c: 7, d: 4, e: 5 } },
    },
  )
  expect(found.map(({ name, origin, inherited }) => [name, origin, inherited])).toEqual([
    ['a', 'instance', 9],
    ['b', 'os', 2],
    ['c', 'cluster', 3],
    ['d', 'default', 4],
    ['e', 'default', 5],
  ])
})

test('one that does not exist yet is not called stopped', () => {
  const state = (forthcoming: boolean | undefined, disks_active: boolean) =>
    stateOf({ status: 'ADMIN_down', forthcoming, disks_active })
  expect([state(undefined, true), state(false, false)]).toEqual(['ADMIN_down', 'ADMIN_down'])
  expect([state(true, false), state(true, true)]).toEqual(['reserved', 'half_made'])
  expect(stateOf({ status: null })).toBeUndefined()
})

test('an instance that says what holds anyway still says it', () => {
  const [found] = originsOf({ vcpus: 1 }, { instance: { vcpus: 1 }, cluster: { vcpus: 1 } })
  expect(found).toMatchObject({ origin: 'instance', inherited: 1 })
})

test('a parameter is asked for with what holds otherwise behind it', () => {
  const size = { type: 'integer', 'x-unit': 'MiB' }
  const memory = parameterField('maxmem', size, {}, 2048, { label: 'Memory' })
  expect(memory).toMatchObject({ kind: 'size', initial: '', placeholder: '2g', cleared: 'default' })
  expect(parameterField('maxmem', size, { maxmem: 512 }, 2048)).toMatchObject({ initial: '512m' })
  expect(parameterField('acpi', { type: 'boolean' }, {}, true)).toMatchObject({ kind: 'choice', placeholder: 'Yes' })
  const order = parameterField('boot_order', { type: 'string', enum: ['disk', 'cdrom', ''] }, {}, 'disk')
  expect(order).toMatchObject({ kind: 'choice', choices: ['disk', 'cdrom'], placeholder: 'disk' })
})

const PARTS = {
  plain: { instance_name: 'vm1', os_type: 'debian', disk_template: 'plain', pnode: 'node1' },
  ...{ beparams: { maxmem: 512 }, hvparams: {}, osparams: {} },
  ...{ disks: [{ size: 1024 }], nics: [{ network: 'lan' }] },
}

test('a new instance has one memory unless both are said, and no empty parameters', () => {
  expect(bodyOfDraft(PARTS, { kind: 'new' })).toEqual({
    ...PARTS.plain,
    ...{ disks: PARTS.disks, nics: PARTS.nics, beparams: { memory: 512 } },
  })
  const both = { ...PARTS, beparams: { maxmem: 512, minmem: 256 } }
  expect(bodyOfDraft(both, { kind: 'new' })['beparams']).toEqual({ maxmem: 512, minmem: 256 })
})

test('one without disks has none, whatever was typed before', () => {
  const parts = { ...PARTS, plain: { ...PARTS.plain, disk_template: 'diskless' } }
  expect(bodyOfDraft(parts, { kind: 'new' })['disks']).toEqual([])
})

test('an import names the export and its node', () => {
  const body = bodyOfDraft(PARTS, { kind: 'export', node: 'node2', name: 'old1' })
  expect(body).toMatchObject({ mode: 'import', src_node: 'node2', src_path: 'old1' })
})

test('the same is made by a command', () => {
  expect(gntOfDraft(bodyOfDraft(PARTS, { kind: 'new' }), { kind: 'new' })).toBe(
    'gnt instance add --os-type=debian --disk-template=plain --backend-parameters=memory=512 --node=node1' +
      ' --disk=0:size=1024 --net=0:network=lan vm1',
  )
})

test('the fields of a part are told from those of the request', () => {
  const body = { start: false, 'be/vcpus': 2, 'hv/acpi': false }
  expect(plainOf(body)).toEqual({ start: false })
  expect(partOf('be', body)).toEqual({ vcpus: 2 })
})

test('what gnt is told is what the shell takes as one word each', () => {
  const body = { force: true, hotplug: false, os_type: "it's", osparams: { a: 'x,y' }, left: undefined }
  expect(gntText('instance reinstall', body, ['vm1'], { osparams: 'os-parameters' })).toBe(
    String.raw`gnt instance reinstall --force --no-hotplug --os-type='it'\''s' --os-parameters='a=x\,y' vm1`,
  )
})

test('a difference is told for each value within', () => {
  const rows = differences(
    { be: { vcpus: 1, maxmem: 2 }, tags: ['a'] },
    { be: { vcpus: 3, maxmem: 2 }, tags: ['a', 'b'] },
  )
  expect(rows).toEqual([
    { name: 'be.vcpus', before: '1', after: '3' },
    { name: 'tags', before: 'a', after: 'a, b' },
  ])
})

test.each(DISK_TEMPLATES)('the console knows what can be done with disks of %s', (name) => {
  const { mirror, copyable, growable, snapshots, empty, adoptedOnly, perDisk: own } = factsOf(name)
  const facts = { mirror, copyable, growable, snapshots, empty, adopted: adoptedOnly, own }
  expect(TEMPLATES[name]).toEqual(JSON.parse(JSON.stringify(facts)))
})

test('each filter of the list is a condition of the query language, and those that are set are known', () => {
  const of = (search: Parameters<typeof filterOf>[0]) => JSON.parse(filterOf(search) ?? 'null') as unknown
  expect(of({})).toBe(null)
  expect(of({ group: 'g1' })).toEqual(['==', 'pnode.group', 'g1'])
  expect(of({ os: 'debian+min' })).toEqual(['==', 'os', 'debian+min'])
  expect(of({ os: 'deb.ian' })).toEqual(['|', ['==', 'os', 'deb.ian'], ['=~', 'os', '^deb\\.ian\\+']])
  const search = { q: 'w', status: 'running', node: 'n1', tag: 't', os: '' }
  expect(of(search)).toEqual([
    ...['&', ['=~', 'name', '(?i)w'], ['==', 'status', 'running'], ['==', 'pnode', 'n1'], ['=[]', 'tags', 't']],
  ])
  expect(activeFilters(search).map(([name]) => name)).toEqual(['q', 'status', 'node', 'tag'])
})

test('one that should run can be stopped and restarted, whatever its node tells of it at the moment', () => {
  const { STOP, REBOOT, START } = consoleModule<Readonly<Record<string, ConsoleAction>>>(
    'pages/instances/actions/run.ts',
  )
  const whyNot = (action: ConsoleAction | undefined, displayed: object) =>
    action?.unfit?.({ name: 'web1', ...displayed })
  for (const status of ['running', 'ERROR_down', 'ERROR_nodedown', 'ERROR_wrongnode', undefined])
    expect([STOP, REBOOT].map((action) => whyNot(action, { status, admin_state: 'up' }))).toEqual([
      undefined,
      undefined,
    ])
  expect(whyNot(STOP, { status: 'ADMIN_down', admin_state: 'down' })).toBe('The instance is not running.')
  expect(whyNot(STOP, { status: 'ERROR_up', admin_state: 'down' })).toBe(undefined)
  expect(whyNot(START, { status: 'running', admin_state: 'up' })).toBe('The instance is running. Stop it first.')
})

test('on an offline node only a failover helps, so it comes first and the others say so', () => {
  const { actionsFor } = consoleModule<{ actionsFor(instance: object): ConsoleAction[] }>('pages/instances/actions.ts')
  const on = (status: string, disk_template = 'drbd') => {
    const instance = { name: 'web1', pnode: 'node2', admin_state: 'up', status, disk_template }
    return actionsFor(instance).map((action) => [action.id, action.unfit?.(instance)] as const)
  }
  const offline = on('ERROR_nodeoffline')
  const why = 'Its node node2 is offline. Fail it over to another node.'
  expect(offline.slice(0, 5)).toEqual([
    ['failover', undefined],
    ...['startup', 'shutdown', 'reboot', 'migrate'].map((id) => [id, why]),
  ])
  expect(new Set(offline.map(([id]) => id)).size).toBe(on('running').length)
  expect(on('running')[0]?.[0]).toBe('startup')
  expect(on('ERROR_nodeoffline', 'plain')[1]).toEqual(['startup', 'Its node node2 is offline.'])
})

test('a rollback to a snapshot that has lost its data is not offered', () => {
  const { ROLL_BACK_SNAPSHOT } = consoleModule<Readonly<Record<string, ConsoleAction>>>(
    'pages/instances/actions/disks.ts',
  )
  const stopped = { name: 'vm1', disk_template: 'plain', status: 'ADMIN_down', admin_state: 'down' }
  const whyNot = (status: string) => ROLL_BACK_SNAPSHOT?.unfit?.({ instance: stopped, disk: 0, name: 'a', status })
  expect(['ok', 'restoring', 'unknown'].map(whyNot)).toEqual([undefined, undefined, undefined])
  expect(whyNot('invalid')).toMatch('has run full')
  expect(whyNot('missing')).toMatch('is missing')
})

test('disks are made again with parameters of their own', () => {
  const { RECREATE_DISKS: action } = consoleModule<Readonly<Record<string, ConsoleAction>>>(
    'pages/instances/actions/disks.ts',
  )
  const form = action && formOf(action)
  const lost = { name: 'vm1', disk_template: 'plain', status: 'ADMIN_down', 'disk.sizes': [1024, 64] }
  expect(fieldsFor(form?.others, lost).map(({ name }) => name)).toEqual(
    ['0', '1'].flatMap((index) =>
      ['size', 'mode', 'spindles', 'stripes', 'stripe-size'].map((name) => `anew/${index}/${name}`),
    ),
  )
  const second = { anew: { 1: { size: 128, stripes: 2 } } }
  // All are made again, as without any parameters.
  expect(form?.request(lost, second)).toMatchObject({
    body: {
      disks: [
        [0, {}],
        [1, { size: 128, stripes: 2 }],
      ],
    },
    gnt: 'gnt instance recreate-disks --disk=0 --disk=1:size=128,stripes=2 vm1',
  })
  expect(form?.request(lost, { ...second, disks: ['1'] })).toMatchObject({
    body: { disks: [[1, { size: 128, stripes: 2 }]] },
  })
  expect(form?.request(lost, {})).toMatchObject({ body: {}, gnt: 'gnt instance recreate-disks vm1' })
  expect(form?.complaint?.(lost, { ...second, disks: ['0'] })).toBe(
    'Disk 1 has new parameters, but is not among the disks above.',
  )
})

test('a snapshot that the node cannot make is not offered', () => {
  const { SNAPSHOT } = consoleModule<Readonly<Record<string, ConsoleAction>>>('pages/instances/actions/disks.ts')
  const instance = { name: 'web1', disk_template: 'file' }
  expect(SNAPSHOT?.unfit?.(instance)).toBe(undefined)
  expect(SNAPSHOT?.unfit?.({ ...instance, snapshotProblem: 'no reflink' })).toBe('no reflink')
})

test('a field does not repeat the name of its parameter', () => {
  const { withoutParameter } = consoleModule<{ withoutParameter(text: string): string }>('forms/use-form.ts')
  expect(withoutParameter("Parameter 'instance_name': 'My VM!' is no name")).toBe("'My VM!' is no name")
  expect(withoutParameter('the size is wrong')).toBe('the size is wrong')
})

test('parameters are found by name and by where they come from, in any case', () => {
  const all = originsOf({ acpi: 1, boot: 2 }, { instance: { boot: 2 }, os: { acpi: 1 } })
  const found = (sought: string) => foundParameters(all, sought).map(({ name }) => name)
  expect([found('the OS'), found('the os '), found('BOOT'), found('instance'), found('x'), found('')]).toEqual([
    ...[['acpi'], ['acpi'], ['boot'], ['boot'], [], ['acpi', 'boot']],
  ])
})
