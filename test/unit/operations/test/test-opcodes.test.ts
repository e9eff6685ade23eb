// The opcodes that Ganeti's QA tests the queue with.
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as os from 'node:os'
import { systemClock } from '../../../../src/lib/clock'
import { openRendezvous } from '../../../../src/lib/net/rendezvous'
import { runOpcode } from '../../../../src/operations/processor'
import { type FakeCluster, simulatedCluster } from '../../../support/fake-cluster'

let cluster: FakeCluster
beforeEach(() => {
  cluster = simulatedCluster()
})
afterEach(() => {
  expect(cluster.table.owners.size).toBe(0)
})
const rendezvous = () => openRendezvous(systemClock, os.tmpdir())
const reason = [['gnt:test', '', 1]]

/** Runs an opcode and answers each of its notices, like a tester who looks and lets it go on. */
async function attended(op: { OP_ID: string } & Record<string, unknown>, answer: (socket: net.Socket) => void) {
  const notices: [type: string, stage: unknown, argument: unknown][] = []
  const paths: string[] = []
  const log = (type: string, message: unknown) => {
    if (type === 'message') return void cluster.log.push(String(message))
    const [path, stage, argument] = message as [string, unknown, unknown]
    notices.push([type, stage, argument])
    paths.push(path)
    const socket = net.connect(path, () => answer(socket))
  }
  const result = await runOpcode({ reason, ...op }, { ...cluster.environment(), log, rendezvous })
  expect(paths.filter((path) => fs.existsSync(path))).toEqual([])
  return { result, notices }
}

test('a test of the queue stops at every stage until its tester has looked', async () => {
  const op = { OP_ID: 'OP_TEST_JQUEUE', notify_waitlock: true, notify_exec: true, log_messages: ['one', ''] }
  const { result, notices } = await attended(op, (socket) => socket.end())
  expect(result).toBe(true)
  expect(notices).toEqual([
    ['jqueue-test', 'expandnames', null],
    ['jqueue-test', 'exec', null],
    ['jqueue-test', 'startmsg', 2],
    ['jqueue-test', 'logmsg', 1],
    ['jqueue-test', 'logmsg', 2],
  ])
  expect(cluster.log).toEqual([
    ' - INFO: Expanding names',
    ' - INFO: Executing',
    ' - INFO: Sending log message 1',
    'TESTMSG=one',
    ' - INFO: Sending log message 2',
    'TESTMSG=',
  ])
  await expect(cluster.failure('OP_TEST_JQUEUE', { fail: true })).resolves.toEqual([
    'OpExecError',
    ['Opcode failure was requested'],
  ])
})

test('a delay that can be interrupted ends with the first byte that it is sent, and all its repetitions with it', async () => {
  const op = { OP_ID: 'OP_TEST_DELAY', duration: 1000, repeat: 5, interruptible: true }
  const { notices } = await attended(op, (socket) => socket.write('x'))
  expect(notices).toHaveLength(1)
  expect(cluster.log.at(-1)).toBe('Interrupted, time spent waiting: 0')
})

test('secret parameters come to the unit, and their values to nobody else', async () => {
  cluster.secrets = { osparams_secret: { password: 'swordfish' } }
  await cluster.run('OP_TEST_OS_PARAMS', { osparams_secret: { password: '<redacted>' } })
  expect(cluster.log).toEqual(['Secret OS parameters: password (9 characters)'])
  cluster.secrets = {}
  await expect(cluster.failure('OP_TEST_OS_PARAMS')).resolves.toEqual([
    'OpExecError',
    ['Opcode needs secret parameters'],
  ])
})

test('a dummy says, submits and answers what it is given', async () => {
  const dummy = { result: 'done', messages: ['a', 'b'], fail: false, submit_jobs: null }
  await expect(cluster.run('OP_TEST_DUMMY', dummy)).resolves.toBe('done')
  expect(cluster.log).toEqual(['a', 'b'])
  const jobs = [[{ OP_ID: 'OP_TEST_DELAY', duration: 1 }]]
  await expect(cluster.run('OP_TEST_DUMMY', { ...dummy, submit_jobs: jobs })).resolves.toEqual({
    result: 'done',
    jobs: [[true, 100]],
  })
  await expect(cluster.failure('OP_TEST_DUMMY', { ...dummy, fail: true })).resolves.toEqual([
    'OpExecError',
    ['Dummy failure'],
  ])
})
