// What a machine's monitor says about its migration, in every state that QEMU has.
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as path from 'node:path'
import { systemClock } from '../../../../../src/lib/clock'
import { migrationSide } from '../../../../../src/node/hypervisor/kvm/migration-side'
import { withQmp } from '../../../../../src/node/hypervisor/kvm/qmp'
import { temporaryRoot } from '../../../../support/hypervisor'

interface Told {
  readonly status?: string
  readonly machine?: string
  readonly ram?: object | null
  readonly on?: readonly string[]
}

/** What follows from the answers of a monitor. */
async function observed({ status, machine = 'finish-migrate', ram = { total: 1 }, on = [] }: Told) {
  const root = temporaryRoot()
  const answers: Record<string, unknown> = {
    'query-migrate': { ...(status !== undefined && { status }), ...(ram && { ram }) },
    'query-status': { status: machine },
    'query-migrate-capabilities': on.map((capability) => ({ capability, state: true })),
  }
  const server = net.createServer((socket) => {
    socket.write('{"QMP": {}}\n')
    socket
      .on('error', () => undefined)
      .on('data', (data) => {
        const { execute, id } = JSON.parse(String(data)) as { execute: string; id: number }
        socket.write(`${JSON.stringify({ return: answers[execute] ?? {}, id })}\n`)
      })
  })
  const file = path.join(root, 'qmp')
  await new Promise<void>((resolve) => server.listen(file, resolve))
  try {
    return await withQmp(file, systemClock, migrationSide)
  } finally {
    server.close()
    fs.rmSync(root, { recursive: true })
  }
}

const BOTH = ['postcopy-ram', 'return-path']

test.each([
  [undefined, 'none', 'failed'],
  ['none', 'none', 'failed'],
  ['setup', 'before', 'active'],
  ['wait-unplug', 'before', 'active'],
  ['active', 'before', 'active'],
  ['pre-switchover', 'before', 'active'],
  ['device', 'before', 'active'],
  ['cancelling', 'before', 'cancelled'],
  ['failing', 'before', 'active'],
  ['postcopy-device', 'after', 'postcopy-active'],
  ['postcopy-active', 'after', 'postcopy-active'],
  ['postcopy-paused', 'after', 'postcopy-paused'],
  ['postcopy-recover-setup', 'after', 'postcopy-recover'],
  ['postcopy-recover', 'after', 'postcopy-recover'],
  ['colo', 'after', 'colo'],
  ['completed', 'done', 'completed'],
  ['cancelled', 'ended', 'cancelled'],
  ['failed', 'ended', 'failed'],
  ['one of a later QEMU', 'after', 'postcopy-active'],
])('state %s is %s the switch, and a node says %s', async (status, phase, word) => {
  const side = await observed({ ...(status !== undefined && { status }), on: BOTH })
  expect(side).toMatchObject({ phase, status: word })
  expect(side.switched).toBe(['after', 'done', 'ended'].includes(phase))
})

test.each<[string, Told, boolean]>([
  ['sends the rest of the memory', { status: 'postcopy-active' }, true],
  ['runs, as a target does', { status: 'postcopy-active', machine: 'running' }, false],
  ['has heard that the target took over', { status: 'completed', machine: 'postmigrate', on: ['return-path'] }, true],
  ['has sent all, and heard nothing', { status: 'completed', machine: 'postmigrate' }, false],
  [
    'has got its guest by a migration, and stopped it',
    { status: 'completed', machine: 'paused', ram: null, on: BOTH },
    false,
  ],
  ['was cancelled after the switch', { status: 'cancelled', machine: 'postmigrate', on: BOTH }, true],
  ['has failed while its guest stood still', { status: 'failed', machine: 'postmigrate', on: ['return-path'] }, false],
  ['has failed, and its guest goes on', { status: 'failed', machine: 'running', on: BOTH }, false],
])('whether a machine has given its guest away: it %s', async (_what, reported, switched) => {
  expect((await observed(reported)).switched).toBe(switched)
})
