// LUXI's calls are read and refused in Ganeti's words.
import type { Master } from '../../../../src/rpc/luxi/master'
import { layout } from '../../../../src/rpc/luxi/layout'
import { Unparsable, parseRequest } from '../../../../src/rpc/luxi/protocol'

/** Answers every call with its name and arguments, also when text is wanted. */
const echo: Master = new Proxy({} as Master, {
  get: (_, name) => (name === 'text' ? echo : async (...args: unknown[]) => [name, ...args]),
})
const ask = (method: string, args: unknown) => parseRequest(JSON.stringify({ method, args })).run(echo)

test.each([
  ['QueryJobs', [null, ['id']], ['queryJobs', null, ['id']]],
  ['QueryJobs', [[1, '2'], ['id']], ['queryJobs', [1, 2], ['id']]],
  ['CancelJob', [5], ['cancelJob', 5, false]],
  ['CancelJob', ['5', true], ['cancelJob', 5, true]],
  ['SetWatcherPause', [], ['setWatcherPause', null]],
  ['SetWatcherPause', [1.5], ['setWatcherPause', 1.5]],
  ['WaitForJobChange', ['7', ['status'], ['x'], null, 1.9], ['waitForJobChange', 7, ['status'], ['x'], null, 1]],
  ['QueryFields', ['node', null], ['queryFields', 'node', null]],
  ['QueryClusterInfo', 'anything', ['queryClusterInfo']],
  ['QueryTags', ['cluster', ''], ['queryTags', 'cluster', '']],
  ['AutoArchiveJobs', [-1, 5], ['autoArchiveJobs', -1, 5]],
])('%s %j becomes %j', async (method, args, expected) => {
  expect(await ask(method, args)).toEqual(expected)
})

test('an opcode gets its defaults, in canonical order', async () => {
  const [, ops] = (await ask('SubmitJob', [[{ reason: [], OP_ID: 'OP_INSTANCE_STARTUP', instance_name: 'vm' }]])) as [
    string,
    object[],
  ]
  expect(Object.keys(ops[0] ?? {}).slice(0, 6)).toEqual([
    'priority',
    'depends',
    'comment',
    'reason',
    'OP_ID',
    'instance_name',
  ])
})

test('PickupJob is refused by name, and the connection stays', async () => {
  await expect(ask('PickupJob', [1])).rejects.toThrow("Luxi call 'PickupJob' is for internal use only")
})

test.each([
  ['QueryInstances', [1], 'Unable to read Triple'],
  ['CancelJob', [], 'Unable to read Pair'],
  ['ArchiveJob', [true], 'job id'],
  [
    'ReplaceFilter',
    [null, 1, [['bogus', 1]], 'ACCEPT', []],
    "malformed FilterPredicate: bad parameter list for 'bogus' predicate: [1]",
  ],
  ['ReplaceFilter', [null, 1, ['x'], 'ACCEPT', []], 'malformed FilterPredicate: must be a list with the first entry'],
  ['ReplaceFilter', [null, 1, [], ['RATE_LIMIT', 0], []], 'RATE_LIMIT argument must be a positive integer'],
  ['ReplaceFilter', [null, 1, [], ['ACCEPT', 1], []], 'malformed FilterAction JSON: ["ACCEPT",1]'],
  ['ReplaceFilter', [null, 1, [], 'ACCEPT', [['a', 'b']]], 'Unable to read Triple'],
  ['ReplaceFilter', [null, 1, [], 'ACCEPT', [['a', 'b', 'c']]], 'Unable to read Integer'],
  ['Query', ['node', ['name'], 7], 'Cannot deserialise filter'],
])('%s %j is unreadable: %s', (method, args, reason) => {
  expect(() => ask(method, args)).toThrow(Unparsable)
  expect(() => ask(method, args)).toThrow(reason)
})

test('a filter rule that our door hands on is refused in the words of Ganeti, without the identity', () => {
  const rule = [null, 1, [], 'BOGUS', []]
  const identity = { user: 'admin', token: null, permissions: ['filter.add'] }
  const words = `Cannot convert value '[null, 1, [], "BOGUS", []]', error: malformed FilterAction JSON: "BOGUS"`
  expect(() => ask('ReplaceFilter', rule)).toThrow(words)
  expect(() => ask('GantryReplaceFilter', [identity, ...rule])).toThrow(words)
})

test('arguments are shown in filled lines of at most 67 characters', () => {
  const long = ['x'.repeat(30), 'y'.repeat(30), { key: ['z'.repeat(30), 'w'.repeat(40)] }]
  for (const line of layout(long).split('\n')) expect(line.trim().length).toBeLessThanOrEqual(67)
  expect(JSON.parse(layout(long))).toEqual(long)
  expect(layout([])).toBe('[]')
})

test.each([
  ['PickupJob', ['x', 'y'], `Cannot convert value '["x", "y"]', error: parsing job id: cannot parse string 'x'`],
  ['ArchiveJob', null, "Cannot convert value 'null', error: Unable to read list"],
  ['ArchiveJob', [], "Cannot convert value '[]', error: Unable to read singleton list"],
  ['SetDrainFlag', ['x', []], `Cannot convert value '["x", []]', error: Unable to read Bool`],
  ['ReplaceFilter', [null], "Cannot convert value '[null]', error: Unable to read Tuple5"],
  ['QueryFields', ['node', [1]], "Cannot convert value '[1]', error: Unable to read String"],
  ['QueryFields', [1, 2], "Cannot convert value '[1, 2]', error: Invalid value '1for query type"],
  ['QueryJobs', [[-1], ['id']], "Cannot convert value '[-1]', error: Invalid value for job ID ' -1'"],
  ['WaitForJobChange', [1, ['status']], 'Parsing WaitForJobChange message: Not enough values'],
  ['WaitForJobChange', [1, 2, 3, 4, 5], 'Parsing WaitForJobChange message: Unable to read list'],
  [
    'CancelJob',
    ['x'],
    `Cannot convert value '["x"]', error: Unable to read Pair; Cannot convert value '["x"]', error: parsing job id: cannot parse string 'x'`,
  ],
  [
    'CancelJob',
    ['x', 'y'],
    `Cannot convert value '["x", "y"]', error: parsing job id: cannot parse string 'x'; Cannot convert value '["x", "y"]', error: Unable to read 1 tuple`,
  ],
])('%s of %j is unreadable in the words of a real luxid', (method, args, words) => {
  expect(() => parseRequest(JSON.stringify({ method, args }))).toThrow(`Failed to parse request: ${words}`)
})
