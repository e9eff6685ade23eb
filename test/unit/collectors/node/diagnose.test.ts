// The self-diagnosis that an administrator can hand in is believed only when it is safe.
import { diagnose } from '../../../../src/collectors/node/diagnose'
import { CONFD } from '../../../../src/rpc/confd/protocol'
import { nodeSources, type RecordedNode } from '../../../support/node-sources'

const ASKED = `${CONFD.configQuery} /cluster/diagnose_data_collector_filename`
const FILE = '/etc/ganeti/node-diagnose-commands/check'
const SAFE = { mode: 0o755 }

const collect = (node: RecordedNode, name: unknown = 'check') =>
  diagnose.open(nodeSources({ answers: { [ASKED]: name }, facts: { [FILE]: SAFE }, ...node }), {}).collect()

test('without a program everything is well', async () => {
  expect(await collect({}, '')).toEqual({ status: 'Ok' })
  expect(await collect({}, new Error('Confd server answered with an error: 2'))).toEqual({ status: 'Ok' })
})

test('a configuration that nobody tells is no empty one', async () => {
  await expect(collect({ answers: {} })).rejects.toThrow('No answer from the Confd server')
})

test('the program says what the node needs', async () => {
  const reported = { status: 'live-repair', command: 'swap', details: { disk: 'sdb' } }
  expect(await collect({ programs: { [FILE]: JSON.stringify({ ...reported, more: 1 }) } })).toEqual(reported)
})

test.each([
  [{ uid: 7 }, 'does not belong to root'],
  [{ gid: 7 }, 'does not belong to the group of root'],
  [{ isFile: false }, 'is not a plain file'],
  [{ mode: 0o775 }, 'may be changed by others than its owner'],
  [{ mode: 0o644 }, 'may not be executed'],
])('a program that is not safe is not started, and the node says so: %j', async (facts, why) => {
  const reported = await collect({ facts: { [FILE]: { ...SAFE, ...facts } } })
  expect(reported).toEqual({ status: 'not-run', details: expect.stringContaining(why) })
})

test('a program that others may replace is not started', async () => {
  const reported = await collect({
    unsafe: { [FILE]: `${FILE} is a link` },
    programs: { [FILE]: '{"status":"evacuate"}' },
  })
  expect(reported).toEqual({ status: 'not-run', details: `${FILE} is a link` })
})

test.each([
  ['../check', 'is not the name of a file'],
  ['none', 'does not exist'],
])('a name that leads to no program there is not followed: %s', async (name, why) => {
  expect(await collect({}, name)).toEqual({ status: 'not-run', details: expect.stringContaining(why) })
})

test.each([
  ['hello', 'check did not print JSON'],
  ['{"status":"bad"}', 'check printed the status "bad"; known are Ok, live-repair, evacuate, evacuate-failover'],
  ['{"status":"live-repair","command":1}', 'check printed a command that is no text'],
])('a program that prints nonsense is a failure: %s', async (output, why) => {
  await expect(collect({ programs: { [FILE]: output } })).rejects.toThrow(why)
})
