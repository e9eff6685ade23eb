// The programs of allocation: beside what Debian's were recorded to say, and what they read and write.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { type Ran, ours } from '../../support/htools'
import { ANSWERS, DATA, VARIANTS, dataFiles } from '../../support/htools-answers'

const answers = JSON.parse(fs.readFileSync(ANSWERS, 'utf8')) as Readonly<Record<string, Pick<Ran, 'code' | 'out'>>>

/** Where Debian's programs themselves fail, or print values under the wrong keys. */
const THEIR_MISTAKES: readonly RegExp[] = [
  // Forthcoming instances are counted once and then not.
  /^hspace hbal-forth.data --machine-readable$/,
  // Instances of two groups: they end with an error of their own.
  /^hcheck hbal-split-insts.data/,
  // Without groups there are no sums, and the first value is the last.
  /^hcheck empty-cluster.data/,
]

describe.each(VARIANTS)('%s %s', (program, ...args) => {
  const names = dataFiles().filter((file) => {
    const key = [program, file, ...args].join(' ')
    return Object.hasOwn(answers, key) && !THEIR_MISTAKES.some((one) => one.test(key))
  })
  test.each(names)("says of %s what Debian's says", async (file) => {
    const { code, out } = await ours(program, ['-t', path.join(DATA, file), ...args])
    const theirs = answers[[program, file, ...args].join(' ')]
    if (program === 'hcheck' && code === 1) {
      // After a balance the score may also be better.
      const before = (text: string) => text.split('HCHECK_FINAL')[0]
      expect({ code, out: before(out) }).toEqual({ code: theirs?.code, out: before(theirs?.out ?? '') })
    } else expect({ code, out }).toEqual(theirs)
  })
})

test('a made-up cluster is filled, and what was placed is written', async () => {
  const files = new Map<string, string>()
  const spec = '--simulate=p,4,100g,16g,8'
  const { code, out } = await ours('hspace', [spec, '--disk-template=drbd', '--machine-readable', '-S', 'made'], files)
  expect(code).toBe(0)
  const count = Number(/HTS_ALLOC_INSTANCES=(\d+)/.exec(out)?.[1])
  const lines =
    files
      .get('made.standard')
      ?.split('\n')
      .filter((line) => line.startsWith('new-')) ?? []
  expect(lines).toHaveLength(count)
  const text = files.get('made.standard') ?? ''
  const again = await ours(
    'hspace',
    ['-t', 'made.standard', '--disk-template=drbd', '--machine-readable'],
    new Map([['made.standard', text]]),
  )
  expect(again.out).toContain(`HTS_INI_INST_CNT=${count}\n`)
  expect(again.out).toContain('HTS_ALLOC_INSTANCES=0\n')
})

test.each([
  ['hspace-bad-group.data', 'diskless', 'Bad groups: ["group-bad"]\nAllocatable nodes: Left [0,1,2,3]\n'],
  [
    'hspace-groups-two.data',
    'drbd',
    'Bad nodes: ["node-01-001","node-01-002"]\nBad groups: ["group-01"]\nAllocatable nodes: Right [(2,[3]),(3,[2])]\n',
  ],
])('with -v -v -v hspace tells of %s which nodes and groups it avoids', async (file, template, said) => {
  const { err } = await ours('hspace', ['-v', '-v', '-v', `-t${path.join(DATA, file)}`, `--disk-template=${template}`])
  expect(err).toContain(said)
})

test('a request that is no object is refused as what it should be', async () => {
  const { code, err } = await ours(
    'hail',
    ['-'],
    new Map([
      ['-', '[]'],
      ['/dev/stdin', '[]'],
    ]),
  )
  expect({ code, err }).toEqual({ code: 1, err: 'Error: Parsing input IAllocator message: Unable to read JSObject\n' })
})

test.each([
  ['p,3,100g', 'got 3'],
  ['x,3,100g,1g,1', "Cannot parse AllocPolicy abbreviation 'x'"],
  ['p,3,100q,1g,1', "disk size: Unknown unit 'q'"],
])('the specification %s is refused', async (spec, why) => {
  const { code, err } = await ours('hspace', [`--simulate=${spec}`])
  expect(code).toBe(1)
  expect(err).toContain(why)
})

test('the last named of several made-up groups is the first, as in Ganeti', async () => {
  const { err } = await ours('hspace', ['--simulate=p,1,1T,64g,16', '--simulate=p,1,2T,32g,8', '-p'])
  const memory = [...err.matchAll(/^ +(node-\d\d-001) +(\d+)/gm)].map(([, node, size]) => [node, size])
  expect(memory.slice(0, 2)).toEqual([
    ['node-01-001', '32768'],
    ['node-02-001', '65536'],
  ])
})

test('answers of a remote API that were saved are a cluster too', async () => {
  const { code, out } = await ours('hinfo', ['-v', '-m', `file://${path.join(DATA, 'rapi')}`])
  expect(code).toBe(0)
  expect(out).toMatch(/^Loaded \d+ nodes?, \d+ instances?, \d+ node groups?$/m)
})

test('two sources at once are refused', async () => {
  const { code, err } = await ours('hinfo', ['-t', 'one', '-m', 'host'])
  expect(code).toBe(1)
  expect(err).toBe('Error: Only one of the rapi, luxi, and data files options should be given.\n')
})

function requested(request: Readonly<Record<string, unknown>>): Map<string, string> {
  const text = fs.readFileSync(path.join(DATA, 'hail-alloc-drbd.json'), 'utf8')
  const message = JSON.parse(text) as { request: object }
  return new Map([['asked', JSON.stringify({ ...message, request: { ...message.request, ...request } })]])
}

interface Reply<T> {
  readonly success: boolean
  readonly result: T
}

test('an allocator is asked how many instances fit, and where', async () => {
  const { out } = await ours('hail', ['asked'], requested({ type: 'capacity', max_instances: 3 }))
  const { success, result } = JSON.parse(out) as Reply<[number, string[][]]>
  expect(success).toBe(true)
  expect(result[0]).toBe(result[1].length)
  expect(result[0]).toBeLessThanOrEqual(3)
  for (const nodes of result[1]) expect(new Set(nodes).size).toBe(2)
})

test('an allocator is asked for the moves that balance the cluster, at most so many', async () => {
  const { out } = await ours('hail', ['asked'], requested({ type: 'balance', max_moves: 2 }))
  const { success, result } = JSON.parse(out) as Reply<[string, string[], string[]][]>
  expect(success).toBe(true)
  expect(result.length).toBeGreaterThan(0)
  expect(result.length).toBeLessThanOrEqual(2)
  for (const [, before, after] of result) expect(after).not.toEqual(before)
})

describe('--explain tells of each node, beside what programs read', () => {
  const explained = async (program: string, ...args: string[]) => {
    const plain = await ours(program, args)
    const { code, out, err } = await ours(program, ['--explain', ...args])
    expect({ code, out }).toEqual({ code: plain.code, out: plain.out })
    return err
  }
  const request = (name: string) => explained('hail', path.join(DATA, name))

  test('of a new instance', async () => {
    expect(await request('hail-alloc-drbd.json')).toContain(
      'Nodes for instance1:\n  node1: accepted with node2, score -1.14374466\n',
    )
    expect(await request('hail-alloc-invalid-network.json')).toContain(
      '  node1_1: policy: is in a group whose policy forbids it by its disk template (file)\n' +
        '  node2_1: no network: is not connected to its network\n',
    )
  })

  test('of instances that leave their node or their group', async () => {
    expect(await request('hail-reloc-drbd.json')).toMatch(
      /node1: accepted, score -\d.*\n.*\n {2}node3: own node: is its/,
    )
    expect(await request('hail-node-evac.json')).toMatch(/Nodes for instance2:\n {2}node1: accepted with node2/)
    expect(await request('hail-change-group.json')).toMatch(
      /node1: other group: is in another group\n(.*\n)*.*accepted/,
    )
  })

  test('of each move of a balance, and of the next instance that fits no more', async () => {
    const err = await explained('hbal', '-t', path.join(DATA, 'hbal-evac.data'))
    expect(err).toMatch(/: accepted( with \S+)?, score -/)
    const full = await explained('hspace', '--simulate=p,4,100g,16g,8', '--disk-template=drbd')
    expect(full).toMatch(/^Nodes for one more instance:\n(.*: FailDisk: lacks disk space.* \([\d,]+ of [\d,]+\)\n){4}$/)
  })
})

test('a shell is told the options of a program', async () => {
  const complete = async (word: string) => (await ours('hbal', ['--complete-words', '-C', word])).out.split('\n').sort()
  expect(await complete('--print-')).toEqual(['', '--print-commands', '--print-instances', '--print-nodes'])
  expect(await complete('--max-l')).toEqual(['', '--max-length='])
})
