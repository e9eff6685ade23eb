// Compares with the recorded calls of a real Ganeti node, in one sequence: the life of a disk and the calls around it.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { dispatch } from '../../../src/node/dispatch'
import { isCallName } from '../../../src/rpc/node/calls'
import { testNode } from '../../support/node-context'

interface Recording {
  call: string
  body: string
  answer: string
}

const file = path.join(__dirname, '../../golden/node/calls.json')
const recordings = JSON.parse(fs.readFileSync(file, 'utf8')) as Recording[]
const node = testNode('node1.gnt.example')
afterAll(() => node.remove())

test.each(recordings.map((recording) => [recording.call, recording] as const))('%s', async (call, { body, answer }) => {
  if (!isCallName(call)) throw new Error(`unknown call ${call}`)
  expect(JSON.parse(await dispatch(node.context, call, body))).toEqual(JSON.parse(answer))
})

test('the calls left behind what Ganeti leaves', () => {
  const { paths } = node
  expect(fs.readFileSync(paths.ssconf('cluster_tags'), 'utf8')).toBe('env:test\nowner:peer\n')
  expect(fs.readFileSync(paths.watcherPause, 'utf8')).toBe('1795230464\n')
  expect(fs.readFileSync(path.join(paths.queueDir, 'serial'), 'utf8')).toBe('197\n')
  expect(fs.readdirSync(paths.local('/srv/ganeti/shared-file-storage'))).toEqual(['inst1.example.com'])
  expect(fs.readdirSync(paths.local('/var/run/ganeti/instance-disks'))).toEqual([])
  expect(fs.readdirSync(paths.bdevCacheDir)).toEqual([])
})
