// The reports of our collectors on recorded files are those of Ganeti's.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { parseDiskstats } from '../../../src/collectors/storage/diskstats'
import { drbd } from '../../../src/collectors/storage/drbd'
import { instStatusXen } from '../../../src/collectors/instance/inst-status-xen'
import { lv } from '../../../src/collectors/storage/lv'
import type { NodeSources } from '../../../src/collectors/report'
import { machineSources } from '../../../src/collectors/sources'
import { thisMachine } from '../../../src/lib/machine'
import { systemClock } from '../../../src/lib/clock'
import { pathsOf } from '../../../src/lib/paths'
import { runHtool } from '../../../src/cli/htools/run'
import { seededRandom } from '../../../src/lib/random'
import { CONFD } from '../../../src/rpc/confd/protocol'

const DATA = path.join(__dirname, '../../data/collectors')
const data = (name: string): string => fs.readFileSync(path.join(DATA, name), 'utf8')
const golden = JSON.parse(fs.readFileSync(path.join(__dirname, '../../golden/mon-collector.json'), 'utf8')) as {
  args: string[]
  json: Record<string, unknown>
}[]

async function collect(args: readonly string[], texts: Readonly<Record<string, string>> = {}) {
  let [out, err] = ['', '']
  const code = await runHtool('mon-collector', args, {
    clock: systemClock,
    random: seededRandom(1),
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    read: (file) => texts[file] ?? fs.readFileSync(path.resolve(DATA, file), 'utf8'),
    write: () => undefined,
    interruption: () => () => false,
    connect: () => {
      throw new Error('collectors ask no master')
    },
  })
  return { code, out, err }
}

test.each(golden.map(({ args, json }) => [args.join(' '), args, json] as const))(
  'mon-collector %s',
  async (_, args, json) => {
    const { code, out, err } = await collect(args)
    expect(err).toBe('')
    expect(code).toBe(0)
    const report = JSON.parse(out) as { timestamp: number }
    expect(report.timestamp).toBeGreaterThan(1e18)
    expect({ ...report, timestamp: 0 }).toEqual(json)
  },
)

test('newer kernels count more of each disk, and the report stays as it is', async () => {
  const [row] = parseDiskstats(
    ' 254       0 vda 407059 56475 10045468 265737 5299183 784858 49958663 644567 0 420260 1172754 1326764 625 19825840 141495 1421567 120953\n',
  )
  expect(row).toEqual({
    ...{ major: 254, minor: 0, name: 'vda', readsNum: 407059, mergedReads: 56475, secRead: 10045468, timeRead: 265737 },
    ...{ writes: 5299183, mergedWrites: 784858, secWritten: 49958663, timeWrite: 644567, ios: 0, timeIO: 420260 },
    wIOmillis: 1172754,
  })
  expect(fs.existsSync('/proc/diskstats') ? (await collect(['diskstats', '-f', '/proc/diskstats'])).code : 0).toBe(0)
})

test('a file that cannot be read is named, and the program ends with 1', async () => {
  expect(await collect(['diskstats', '--file=no-such-file'])).toEqual({
    code: 1,
    out: '',
    err: 'Error: reading from file: no-such-file: openFile: does not exist (No such file or directory)\n',
  })
  expect(await collect(['drbd', 'x'])).toMatchObject({
    code: 1,
    err: "Error: This program takes exactly zero arguments, got 'x'\n",
  })
  expect(await collect(['no-such-collector'])).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^Usage: mon-collector/),
  })
  expect(await collect(['lv', '--no-such-option'])).toMatchObject({ code: 2 })
})

const DISK = ' 254 0 vda 1 2 3 4 5 6 7 8 9 10 11'
const VOLUME = '  uuid;name;attr;-1;+1;253;0;12B;1;;;vg;xenvg;linear;0B;0;12B;;/dev/sda5:0-1;/dev/sda5(0)'
const VERSIONS = 'version: 8.4.2 (api:1/proto:86-101)\n'

/** Recorded answers of Ganeti 3.0.2's program to the same texts. */
test.each([
  ['diskstats', `${DISK}\nfoo\n`, '"foo\\n"\n[]\nFailed reading: takeWhile1'],
  ['diskstats', DISK, '""\n[]\nnot enough input'],
  ['diskstats', `${DISK.replace(' 2 ', ' x ')}\n`, '"x 3 4 5 6 7 8 9 10 11\\n"\n[]\nFailed reading: takeWhile1'],
  ['diskstats', `${DISK} x\n`, '" x\\n"\n[]\nstring'],
  ['diskstats', '\n', '"\\n"\n[]\nFailed reading: takeWhile1'],
  ['lv', `${VOLUME.slice(0, VOLUME.lastIndexOf(';'))}\n`, `"\\n"\n["';'"]\nFailed reading: satisfy`],
  ['lv', `${VOLUME};more\n`, '";more\\n"\n[]\nstring'],
  ['lv', VOLUME, '""\n[]\nnot enough input'],
  ['lv', '\n', `""\n["';'"]\nnot enough input`],
  ['lv', 'u;n;a;-;1', '"-;1"\n[]\nFailed reading: takeWhile1'],
  ['lv', 'u;n;a;-', '""\n[]\nnot enough input'],
  ['lv', 'u;n;a;1;1;1;1;12;', `";"\n["'B'"]\nFailed reading: satisfy`],
  ['lv', 'u;n;a;x', '"x"\n[]\nFailed reading: takeWhile1'],
])('%s of %j tells what is left, and why', async (name, text, reported) => {
  const { code, out, err } = await collect([name, '-f', 'text', ...(name === 'lv' ? ['-i', 'none'] : [])], {
    ...{ text, none: '[]' },
  })
  expect({ code, out, err }).toEqual({ code: 1, out: '', err: `Error: ${reported}\n` })
})

test.each([
  ['foo', 'Unable to parse JSON Bool: foo'],
  ['{}', 'Unable to read list'],
  ['[1]', 'Unable to read a DrbdInstMinor'],
  ['[["a",1,"b","c","d"]]', 'Unable to read a DrbdInstMinor'],
  ['', 'Malformed JSON: invalid token in this context '],
  ['[1,', 'Malformed JSON: invalid token in this context '],
  ['[[] x]', 'Unable to parse JSON array: unterminated array: x]'],
  ['{"a" 1}', 'Malformed JSON labelled field:  1}'],
  ['["a]', 'Unable to parse JSON String: unterminated String: '],
  ['[] x', 'Invalid tokens at end of JSON string: "x"'],
])('a pairing of %j is done without, with a warning that says why', async (pairing, why) => {
  const { code, err } = await collect(['drbd', '-s', 'status', '-p', 'pairing'], { pairing, status: VERSIONS })
  expect([code, err]).toEqual([0, `Can't get pairing info: ${why}\n`])
})

test('missing parts of the pairing are told before faults in the status of DRBD', async () => {
  const reported = async (args: string[], more = {}) =>
    (await collect(['drbd', '-s', 'status', ...args], { status: 'x"\u00e91', ...more })).err
  expect(await reported(['-p', 'nosuch'])).toBe(
    'mon-collector: nosuch: openFile: does not exist (No such file or directory)\n',
  )
  expect(await reported([])).toMatch(/^mon-collector: .*hmac.key: openBinaryFile: does not exist/)
  expect(await reported(['-p', 'pairing'], { pairing: 'null' })).toBe(
    `Can't get pairing info: Unable to read list\nError: "x\\"\\233\\&1"\n[]\nFailed reading: versionInfo\n`,
  )
  expect(await reported(['-s', 'gone', '-p', 'nosuch'])).toMatch(/^Error: reading from file: gone: openFile/)
})

test.each([
  ['foo', 'Unable to parse JSON Bool: foo'],
  ['{}', 'Unable to read list'],
  ['[1]', 'Unable to read Pair'],
])('instances of %j are refused', async (instances, why) => {
  const { err } = await collect(['lv', '-f', 'lvs_lv.txt', '-i', 'instances'], { instances })
  expect(err).toBe(`Error: Unable to obtain the list of instances: Not a list of instances: ${why}\n`)
})

test('disks whose owner confd does not tell are reported without one', async () => {
  const warnings: string[] = []
  const refusing = sources({
    ask: () => Promise.reject(new Error('No answer from the Confd server')),
    warn: (text) => warnings.push(text),
  })
  const report = await drbd.open(refusing, { 'drbd-status': path.join(DATA, 'proc_drbd84.txt') }).collect()
  expect(warnings).toEqual(["Can't get pairing info: No answer from the Confd server"])
  expect((report as { deviceInfos: { instance?: string | null }[] }).deviceInfos[0]?.instance).toBeNull()
  await expect(lv.open(refusing, { file: path.join(DATA, 'lvs_lv.txt') }).collect()).rejects.toThrow(
    'Unable to obtain the list of instances: No answer from the Confd server',
  )
})

test('volumes are known by the disks that confd tells of', async () => {
  const [[instance, disks]] = JSON.parse(data('instance-disks.txt')) as [[{ name: string }, unknown[]]]
  const requested: unknown[] = []
  const answering = sources({
    ask(question, query) {
      requested.push([question, query])
      return Promise.resolve(
        question === CONFD.nodeInstances ? [[instance, { name: 'to-come', forthcoming: true }], []] : disks,
      )
    },
    run: (command) => Promise.resolve(command[0] === 'lvs' ? data('lvs_lv.txt') : ''),
  })
  const rows = await lv.open(answering, {}).collect()
  expect((rows as { instance?: string }[]).map((row) => row.instance)).toEqual([instance.name, instance.name])
  expect(requested).toEqual([
    [CONFD.nodeInstances, 'node1.example.com'],
    [CONFD.instanceDisks, instance.name],
  ])
})

test('Xen instances are compared with what they should be', async () => {
  const admin = (name: string, admin_state: string) => ({
    name,
    uuid: `uuid-of-${name}`,
    admin_state,
    mtime: 1372838946.26,
  })
  const list = data('xen-xl-list-long-4.0.1.txt')
  const went = list.replace('(cpu_time 24.116146647)', '(cpu_time 25.1)')
  const reason = [['gnt', 'a test', 1]]
  const reportWith = async (lists: string[]) => {
    const report = await instStatusXen
      .open(
        sources({
          ask: () =>
            Promise.resolve([
              [
                admin('instance1.example.com', 'up'),
                admin('instance2.example.com', 'down'),
                admin('gone.example.com', 'up'),
              ],
              [admin('secondary.example.com', 'up')],
            ]),
          run: ([, verb]) => Promise.resolve(verb === 'list' ? (lists.shift() ?? '') : data('xen-xl-uptime-4.0.1.txt')),
          read: (file) =>
            file === '/reasons/instance1.example.com'
              ? Promise.resolve(JSON.stringify(reason))
              : Promise.reject(new Error('no such file')),
        }),
        {},
      )
      .collect()
    return report as { instances: { name: string; actualState: string; status: unknown }[]; status: unknown }
  }
  const { instances, status } = await reportWith([list, went])
  expect(instances[0]).toEqual({
    ...{ name: 'instance1.example.com', uuid: 'uuid-of-instance1.example.com', adminState: 'up' },
    ...{ actualState: 'blocked', uptime: '15 days, 20:57:07', mtime: 1372838946.26 },
    state_reason: reason,
    status: { code: 0, message: '' },
  })
  expect(instances.slice(1).map((one) => [one.name, one.actualState, one.status])).toEqual([
    ['instance2.example.com', 'shutdown', { code: 0, message: '' }],
    ['gone.example.com', 'unknown', { code: 4, message: 'The instance is not running as it should be' }],
  ])
  expect(status).toEqual({ code: 4, message: '\nThe instance is not running as it should be' })
  const still = await reportWith([list, list])
  expect(still.instances[0]).toMatchObject({
    actualState: 'hung',
    status: { code: 2, message: 'Instance marked as running, but it appears to be hung' },
  })
})

test('without Xen the report says so', async () => {
  const noXen = { ask: () => Promise.resolve([[], []]), run: () => Promise.reject(new Error('xl: not found')) }
  const report = await instStatusXen.open(sources(noXen), {}).collect()
  expect(report).toEqual({
    instances: [],
    status: { code: 4, message: 'Unable to receive the list of instances: xl: not found' },
  })
})

const sources = (own: Partial<NodeSources>): NodeSources => ({
  clock: systemClock,
  hostname: 'node1.example.com',
  paths: { ...pathsOf('', 'node1.example.com'), instanceReasonDir: '/reasons' },
  ...machineSources(thisMachine),
  read: (file) => fs.promises.readFile(file, 'utf8'),
  run: () => Promise.reject(new Error('nothing to run')),
  backEnd: () => {
    throw new Error('no back end to ask')
  },
  ask: () => Promise.reject(new Error('nobody to ask')),
  candidateClocks: () => Promise.resolve([]),
  warn: () => undefined,
  ...own,
})
