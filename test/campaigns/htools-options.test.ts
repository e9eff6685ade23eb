// Every option of the programs of allocation, with good, extreme and bad values: what is said, written and returned is Ganeti's.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { DATA } from '../support/htools-answers'
import { HTOOLS_PACKAGE, type Ran, clusterOf, debianPresent, debians, ours } from '../support/htools'
import { testWith } from '../support/needs'

const peer = testWith(debianPresent(), HTOOLS_PACKAGE)
const data = (name: string): string => path.join(DATA, name)

const DIRECTORY = fs.mkdtempSync(path.join(os.tmpdir(), 'htools-options-'))
const file = (name: string): string => path.join(DIRECTORY, name)

beforeAll(() => {
  const texts: Record<string, string> = {
    cluster: clusterOf(3, 6, 14),
    monitored: clusterOf(3, 2, 6).replaceAll('node0', 'node2'),
    loads: 'inst1.example.com 1.5 2 0.5 0\nnobody 1 1 1 1\n',
    few: 'inst1.example.com 1.5 2 0.5\n',
    wrong: 'inst1.example.com 1.5 2 x 0\n',
    empty: '',
    offline: OFFLINE,
    garbage: 'garbage\n',
    xen: JSON.stringify(
      ['node1.example.com', 'node2.example.com'].map((node, at) => ({
        node,
        reports: [{ ...XEN_REPORT, data: at === 0 ? { 'inst0.example.com': 0.5 } : XEN_LOADS }],
      })),
    ),
  }
  for (const [name, text] of Object.entries(texts)) fs.writeFileSync(file(name), text)
})

afterAll(() => fs.rmSync(DIRECTORY, { recursive: true }))

/** Two nodes that are away, and nothing on them. */
const OFFLINE = `group-01|u1|preferred||

${[1, 2].map((at) => `n${at}|16384|0|15360|409600|204200|16|Y|u1|1|`).join('\n')}



`

const XEN_REPORT = { name: 'xen-cpu-avg-load', version: 'B', format_version: 1, timestamp: 1, category: null, kind: 0 }
const XEN_LOADS = Object.fromEntries([1, 2, 3, 4, 5].map((at) => [`inst${at}.example.com`, at / 4]))

const cluster = `-t${file('cluster')}`

const WHOLE = [
  '0',
  '1',
  '3',
  '-1',
  '(1)',
  '- 1',
  ' 1',
  '0x10',
  '1.5',
  '1e3',
  'x',
  '',
  '1x',
  '1 ',
  '+1',
  '1.',
  'NaN',
  '-(1)',
]
const NUMBERS = [
  '0.5',
  '1e-3',
  '0',
  '(2)',
  '- 1',
  '.5',
  '1.',
  'x',
  '',
  '1x',
  '1 ',
  '+1',
  '1,5',
  '1_000',
  '0b1',
  '1e',
  '0.1.2',
]
const NAMES = ['inst1', 'inst1.example.com,inst2', 'none', '', 'inst1,none', 'inst1,']
const NODES = ['node1.example.com', 'node1', 'node2,node3', 'none', '', 'node', 'NODE1']
const SIZES = [
  '1g,1g,1',
  '1024,1024,1,2',
  '1g,1g',
  '1g,1g,1,2,3',
  'x,1g,1',
  '1g,x,1',
  '1g,1g,x',
  '',
  '1.5g,1g,1',
  '1g,1g,',
  '1g,1g,1,x',
  '1 g,1g,1',
  '1Q,1g,1',
]
const SPECS = [
  ...[
    'p,2,100g,16g,8',
    'p,3,4T,128G,32,2',
    'u,3,100g,16g,8',
    'l,3,100g,16g,8',
    'x,3,1g,1g,1',
    'p,0,1g,1g,1',
    'p,-1,1g,1g,1',
  ],
  ...[
    'p,2,1g',
    '',
    'p,2,1q,1g,1',
    'p,2,1g,1q,1',
    'p,2,1g,1g,x',
    'p,x,1g,1g,1',
    'p,2,1.5g,1g,1',
    'p,2, 1g,1g,1',
    'p,2,100,16,8',
  ],
  ...[
    'preferred,2,100g,16g,8',
    'p,2,100g,16g,8,1,n',
    'p,2,100g,16g,8,1,True',
    'p,2,100g,16g,8,1,y,z',
    'p,1,100g,16g,8',
  ],
]
const FIELDS = [
  '',
  'name,pfmem',
  '+idx,plist,slist,peermap,spindle_count,hi_spindles,inst_spindles,ptags',
  'bogus',
  '+',
  'name,',
  '+name,bogus',
  'fqdn,amem,tmem,umem',
]
const FILES = [
  'empty-cluster.data',
  'invalid-node.data',
  'multiple-master.data',
  'n1-failure.data',
  'multiple-tags.data',
]
const CHOICES = ['yes', 'no', 'maybe', '', 'YES']
const BALANCING = {
  'max-length': WHOLE,
  'min-score': [...NUMBERS, 'Infinity'],
  'max-cpu': ['4', '0', '-1', ...NUMBERS],
  'min-disk': NUMBERS,
  'min-gain': NUMBERS,
  'min-gain-limit': NUMBERS,
  'select-instances': NAMES,
  'exclude-instances': NAMES,
  'exclusion-tags': ['service', 'a,b', '', 'service:0'],
  'dynu-file': [file('loads'), file('few'), file('wrong'), file('empty'), '/nonexistent'],
  'evac-mode': [undefined],
  'no-disk-moves': [undefined],
  'no-instance-moves': [undefined],
  'ignore-soft-errors': [undefined],
  'ignore-dynu': [undefined],
  offline: NODES,
}
type Values = Readonly<Record<string, readonly (string | undefined)[]>>

const PROGRAMS: readonly (readonly [program: string, base: readonly string[], options: Values])[] = [
  [
    'hbal',
    [cluster],
    {
      ...BALANCING,
      // The order of a node's instances after moves says nothing.
      'print-nodes': FIELDS.filter((one) => !one.includes('plist')),
      'print-instances': [undefined],
      'print-commands': [undefined, '-', '/nonexistent/x'],
      'restricted-migration': [undefined],
      'first-job-group': [undefined],
      group: ['group', 'uuid-1', 'none', ''],
      save: [file('saved'), '/nonexistent/x'],
      priority: ['low', 'high', 'x', '', '0'],
      reason: ['why', ''],
      mond: CHOICES.filter((one) => one !== 'yes'),
      exec: [undefined],
      verbose: [undefined],
      quiet: [undefined],
    },
  ],
  [
    'hspace',
    [cluster, '-l3', '--machine-readable'],
    {
      'disk-template': ['drbd', 'plain', 'rbd', 'diskless', 'sharedfile', 'bogus', '', 'DRBD'],
      'standard-alloc': SIZES,
      'tiered-alloc': SIZES,
      'spindle-use': ['2', '0', '-1', '1.5', 'x'],
      'machine-readable': CHOICES,
      'independent-groups': [undefined],
      'accept-existing-errors': [undefined],
      'no-capacity-checks': [undefined],
      'print-nodes': FIELDS.slice(0, 3),
      save: [file('saved')],
      offline: NODES,
    },
  ],
  ['hspace', ['-l3', '--machine-readable'], { simulate: SPECS }],
  [
    'hcheck',
    [cluster],
    { ...BALANCING, 'machine-readable': CHOICES, 'no-simulation': [undefined], 'no-capacity-checks': [undefined] },
  ],
  [
    'hinfo',
    [cluster],
    { 'print-nodes': FIELDS, 'print-instances': [undefined], offline: NODES, verbose: [undefined], quiet: [undefined] },
  ],
  [
    'hroller',
    [cluster, '-f'],
    {
      ...{
        'offline-maintenance': [undefined],
        'no-headers': [undefined],
        'print-moves': [undefined],
        'one-step-only': [undefined],
      },
      ...{ 'skip-non-redundant': [undefined], 'ignore-non-redundant': [undefined], verbose: [undefined] },
      'node-tags': ['red', 'red,green', '', ','],
      group: ['group', 'uuid-1', 'none', ''],
      offline: NODES,
      save: [file('saved'), '/nonexistent/x'],
    },
  ],
  [
    'hsqueeze',
    ['-t', data('hsqueeze-underutilized.data')],
    {
      'minimal-resources': NUMBERS,
      'target-resources': NUMBERS,
      'static-kvm-node-memory': ['x', '1x', '1.5', '0'],
      'print-commands': [undefined, '-'],
      save: [file('saved')],
      'no-headers': [undefined],
      exec: [undefined],
    },
  ],
  [
    'hail',
    [data('hail-alloc-drbd.json')],
    {
      'restrict-allocation-to': ['node1', 'node1,node2', 'none', ''],
      'no-capacity-checks': [undefined],
      'ignore-soft-errors': [undefined],
      'ignore-dynu': [undefined],
      simulate: SPECS,
      'text-data': FILES.map(data),
    },
  ],
  ...['hbal', 'hinfo', 'hcheck', 'hsqueeze', 'hroller'].map(
    (program) =>
      [
        program,
        [],
        {
          'text-data': [
            ...FILES.map(data).slice(program === 'hcheck' ? 1 : 0),
            file('empty'),
            file('garbage'),
            '/nonexistent',
            '/',
          ],
          ...(program !== 'hsqueeze' && { master: [`file://${data('rapi')}`, 'file:///nonexistent', ''] }),
        },
      ] as const,
  ),
]

/** Our programs print their own help after a wrong command line, so only the first line is compared. */
const reported = ({ code, out, err }: Ran) => ({ code, out, err: err.replace(/^(Command line error: .*)[^]*$/, '$1') })

/** Theirs are all called by one name. */
const named = (ran: Ran, program: string): Ran => ({ ...ran, err: ran.err.replaceAll('htools: ', `${program}: `) })

async function expectSame(program: string, args: readonly string[]): Promise<void> {
  const files = new Map<string, string>()
  const mine = await ours(program, args, files)
  const theirs = named(debians(program, args), program)
  expect({ program, args, ...reported(mine) }).toEqual({ program, args, ...reported(theirs) })
  for (const [name, text] of files) {
    if (!name.startsWith(DIRECTORY)) continue
    expect({ args, name, text }).toEqual({ args, name, text: fs.readFileSync(name, 'utf8') })
    fs.unlinkSync(name)
  }
}

for (const [program, base, options] of PROGRAMS) {
  peer(`${program} ${base.join(' ').replaceAll(DIRECTORY, '')}: ${Object.keys(options).join(', ')}`, async () => {
    for (const [name, values] of Object.entries(options)) {
      for (const value of values)
        await expectSame(program, [...base, `--${name}${value === undefined ? '' : `=${value}`}`])
    }
  })
}

const LINES: readonly (readonly string[])[] = [
  ...[
    ['--bogus'],
    ['-Z'],
    ['--text-data'],
    ['-t'],
    ['--no-disk'],
    ['--verbose=3'],
    ['-l'],
    ['--min', '1'],
    ['--bogus', '-Z', '-t'],
  ],
  ...[['argument'], ['-vv'], ['-qq'], ['-pname'], ['-l1', '--', '-v'], ['--max-l=1'], ['--min-gain', '0.5'], ['-vl1']],
  ...[
    ['--max-length=x', '--help'],
    ['--bogus', '--version'],
    ['-m', 'host'],
  ],
]

test('an argument that is empty says nothing', async () => {
  expect(await ours('hinfo', ['', cluster, ''])).toEqual(await ours('hinfo', [cluster]))
})

peer('command lines are taken apart as getopt does', async () => {
  for (const line of LINES) await expectSame('hbal', [cluster, ...line])
})

peer('nodes of which none is online have no score', async () => {
  for (const program of ['hbal', 'hcheck', 'hinfo', 'hspace'])
    for (const more of [[], ...(program === 'hinfo' ? [] : [['-v']])])
      await expectSame(program, [`-t${file('offline')}`, ...more])
  await expectSame('hspace', [`-t${file('offline')}`, '--machine-readable'])
})

peer('what shells may complete is listed, and our own options besides', async () => {
  const programs = ['hbal', 'hspace', 'hcheck', 'hinfo', 'hroller', 'hsqueeze', 'hail', 'hscan', 'harep']
  for (const program of programs) {
    const lines = ({ out }: Ran) =>
      out
        .split('\n')
        .filter((line) => line !== '--explain none')
        .sort()
    const [mine, theirs] = [await ours(program, ['--help-completion']), debians(program, ['--help-completion'])]
    expect({ program, code: mine.code, lines: lines(mine) }).toEqual({
      program,
      code: theirs.code,
      lines: lines(theirs),
    })
  }
})

peer('loads that monitoring daemons told of count like those of a file', async () => {
  const from = (name: string) => ['-t', file('monitored'), '--mond', `--mond-data=${name}`]
  const all = data('mond-data.json')
  for (const more of [[], ['-p', '--print-instances'], ['--ignore-dynu'], [`-U${file('loads')}`]]) {
    if (more[0] !== `-U${file('loads')}`) await expectSame('hinfo', [...from(all), ...more])
    await expectSame('hbal', [...from(all), ...more])
  }
  for (const more of [[], ['--exit-on-missing-mond-data']]) {
    await expectSame('hbal', [...from(all), '--mond-xen', ...more])
    await expectSame('hbal', [...from(file('xen')), '--mond-xen', ...more])
    await expectSame('hbal', [...from(file('xen')), ...more])
  }
  await expectSame('hbal', from('/nonexistent'))
  const { code, err } = await ours('hbal', from(file('garbage')))
  expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/^Error: can't parse MonD data: /) })
})
