// Programs load the output of info commands as YAML.
import { parse } from 'yaml'
import { ALL_TOOLS } from '../../../support/all-tools'
import { FakeMaster, type ScriptedJob } from '../../../support/fake-master'
import { goldenSource } from '../../../support/golden-query'
import { runCli } from '../../../support/run-cli'
import { entries, formatInfo } from '../../../../src/cli/output/info'

/** PyYAML reads version 1.1. */
const load = (text: string): unknown => parse(text, { version: '1.1' })
const show = async (line: string, script: ScriptedJob[] = [], clusterInfo: Record<string, unknown> = {}) => {
  const master = new FakeMaster(script, goldenSource())
  master.clusterInfo = clusterInfo
  const loaded: unknown = load((await runCli(master, line.split(' '))).stdout)
  return loaded
}

/** What users and programs may say, in places where Ganeti prints it without quotes. */
const HOSTILE = [
  'a: b',
  'ends with:',
  'a #comment',
  '#!/bin/sh\n\necho "hi"\n',
  '- a',
  '-',
  '?',
  '*star',
  '&and',
  '!tag',
  '| literal',
  '> folded',
  '%percent',
  '@at',
  '`tick`',
  "'single",
  '"double"',
  '[open',
  '{a b',
  "['it\\'s']",
  "[1, message, * Verifying node 'a': 5%]",
  '<<',
  '=',
  'tab\there',
  '\u0007 bell \u0085 \u2028 \ufeff',
]

test.each(HOSTILE)('%j comes back as it was, as a value, in a list and as a key', (text) => {
  const lines = formatInfo([entries(['value', text], ['list', [text, [text]]], [text, entries([`k ${text}`, 'x'])])])
  expect(load(lines.join('\n'))).toEqual([{ value: text, list: [text, [text]], [text]: { [`k ${text}`]: 'x' } }])
})

test.each(['a:b', 'a#b', 'default ()', '-1', '(none)', "['loop', '/srv/a b']", "{'a': [1, None], 'b': {}}", '[]', ''])(
  '%j has no quotes, as in Ganeti',
  (text) => expect(formatInfo([text, entries(['key', text])])).toEqual([`- ${text}`, `- key: ${text}`]),
)

const NAME = 'vm1'
const STATES = ['', '/dev/drbd0', '/dev/xenvg/a']
const TEMPLATES = ['plain', 'drbd', 'file', 'sharedfile', 'gluster', 'rbd', 'ext', 'blockdev']

/** A disk of each template, with no, faulty, unknown and recovering devices. */
const disks = TEMPLATES.flatMap((dev_type) =>
  [null, ...STATES].flatMap((path) =>
    [1, 2, 3].map((local) => ({
      ...{ uuid: 'd', name: "it's: mine", dev_type, size: 128, mode: 'rw', spindles: null },
      logical_id: dev_type === 'plain' ? ['xenvg', 'a.disk0'] : [dev_type, "/srv/it's"],
      drbd_info: { primary_node: 'node1', primary_minor: 0, secondary_node: 'node2', secondary_minor: 0, port: 11000 },
      pstatus: path === null ? null : [path, 147, 0, local === 1 ? 12.5 : null, 3, local === 2, local],
      sstatus: path === null ? [] : [path, 147, 0, null, null, local === 2, local],
      children: [{ uuid: 'c', name: null, dev_type: 'plain', size: 128, mode: 'rw', logical_id: ['xenvg', 'c'] }],
    })),
  ),
)
const instance = (more: object = {}) => ({
  ...{ name: NAME, uuid: 'u', serial_no: 1, ctime: 1, mtime: 2, config_state: 'up', run_state: 'down' },
  ...{
    pnode: 'node1',
    pnode_group_name: 'a',
    pnode_group_uuid: 'g',
    os: 'tiny',
    hypervisor: 'kvm',
    network_port: 11000,
  },
  ...{ snodes: ['node2'], snodes_group_names: ['a'], snodes_group_uuids: ['g'] },
  ...{
    os_instance: { user_data: HOSTILE[3] },
    os_actual: Object.fromEntries(HOSTILE.map((text, at) => [`p${at}`, text])),
  },
  ...{ hv_instance: {}, hv_actual: { vnc_bind_address: '::', kernel_args: 'a: #b' } },
  ...{ be_instance: {}, be_actual: { maxmem: 64 }, disk_template: 'ext', disks },
  nics: ['bridged', 'routed', 'openvswitch', 'pool'].map((mode) =>
    [null, 'u', '::', 'aa:00:00:00:00:01', mode, '', '.10:20', 'n', { name: 'net1' }]), // prettier-ignore
  user_nics: [0],
  ...more,
})

const CASES: Readonly<Record<string, () => Promise<unknown>>> = {
  'gnt-instance info': async () => {
    const all = [instance(), instance({ forthcoming: true }), instance({ forthcoming: true, disks_active: true })]
    const [first] = (await show('gnt-instance info --all', [{ id: 1, result: { ...all } }])) as Record<
      string,
      unknown
    >[]
    expect(first).toMatchObject({
      'Operating system parameters': { p1: 'default (ends with:)' },
      NICs: [{ connection: expect.stringMatching(/nobody reaches in/) }, {}, {}, {}],
      'console connection': 'vnc to node1:::',
    })
    return first?.['Disks']
  },
  'gnt-cluster info': () =>
    show('gnt-cluster info', [], {
      name: 'c', tags: HOSTILE, osparams: { tiny: { user_data: HOSTILE[3] } }, ipolicy: { minmax: [{ min: {}, max: {} }] },
    }), // prettier-ignore
  'gnt-node info': () => show('gnt-node info'),
  'gnt-group info': () => show('gnt-group info'),
  'gnt-filter info': async () => {
    const master = new FakeMaster()
    const trail = [['gnt:user', 'it\'s: "odd"', 1]]
    master.queryFilters = async () =>
      [1, 2].map((at) => [`uuid${at}`, at, 0, [['jobid', ['=', 'id', 5]]], 'PAUSE', trail])
    const loaded: unknown = load((await runCli(master, ['gnt-filter', 'info'])).stdout)
    expect(loaded).toMatchObject([{ UUID: 'uuid1', Predicates: [['jobid', ['=', 'id', 5]]] }, { UUID: 'uuid2' }])
    return loaded
  },
  'gnt-job info': () => {
    const fields = { id: 1, ops: [{ OP_ID: 'OP_X', text: HOSTILE }], oplog: [HOSTILE.map((text, at) => [at, [1, 0], 'message', text])] } // prettier-ignore
    return show('gnt-job info 1 2', [{ id: 1, error: ['OpExecError', HOSTILE], fields }])
  },
  'gnt-os info': async () => {
    const parameters = [
      ['image', 'Disk image: the absolute path #1'],
      ['size', ''],
    ]
    const row = ['tiny', true, ['a', '- b'], parameters, [20], false, false, {}, {}, true]
    const loaded = await show('gnt-os info tiny nosuch', [{ id: 1, result: [row] }])
    expect(loaded).toMatchObject({ tiny: expect.arrayContaining([{ parameters: [{ image: parameters[0]?.[1] }, { size: null }] }]) }) // prettier-ignore
    return loaded
  },
  'gnt-storage info': async () => {
    const rows = [
      [
        'san',
        { a: true, b: true },
        [
          ['pool', 'The pool: #1'],
          ['x', ''],
        ],
      ],
      ['nas', { a: false }, []],
    ]
    const loaded = await show('gnt-storage info', [{ id: 1, result: rows }])
    expect(loaded).toMatchObject({ san: [{ 'Valid for nodegroups': 'a b' }, { 'Supported parameters': { pool: 'The pool: #1' } }], nas: expect.anything() }) // prettier-ignore
    return loaded
  },
}

/** Ganeti's own is not YAML, and programs read its lines. */
const NOT_YAML = ['gnt-network info']

test('the output of every info command is YAML', async () => {
  const commands = ALL_TOOLS.flatMap(({ name, commands: all }) =>
    all.flatMap((one) => (one.name === 'info' ? [`${name} info`] : [])),
  )
  expect(Object.keys(CASES).sort()).toEqual(commands.filter((name) => !NOT_YAML.includes(name)).sort())
  for (const check of Object.values(CASES)) expect(await check()).toEqual(expect.any(Object))
})

test.each([
  ['0.0.0.0', 'node1:11000 (display 5100)'],
  ['127.0.0.1', '127.0.0.1:11000 (node node1) (display 5100)'],
  ['/var/run/vnc', 'node1:/var/run/vnc'],
  ['::1', 'node1:::1'],
  ['eth0', 'node1:eth0'],
])('a VNC screen at %s is the console connection of an instance', async (bind, place) => {
  const result = { [NAME]: instance({ hv_actual: { vnc_bind_address: bind } }) }
  const { stdout } = await runCli(new FakeMaster([{ id: 1, result }]), ['gnt-instance', 'info', NAME])
  expect(stdout).toContain(`\n  Hypervisor: kvm\n  console connection: vnc to ${place}\n  Hypervisor parameters: \n`)
})

test('without a VNC screen there is no console connection', async () => {
  const result = { [NAME]: instance({ hv_actual: { vnc_bind_address: '' } }) }
  const { stdout } = await runCli(new FakeMaster([{ id: 1, result }]), ['gnt-instance', 'info', NAME])
  expect(stdout).not.toContain('console connection')
})
