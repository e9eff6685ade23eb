// Where no systemd runs a machine, orders to its daemons become orders to daemon-util.
import { NotElected } from '../../../src/bootstrap/node-daemons'
import { nodeDaemons, PlainDaemons } from '../../../src/bootstrap/plain-daemons'
import type { Disk } from '../../../src/lib/disk'
import { pathsOf } from '../../../src/lib/paths'
import type { Run } from '../../../src/lib/programs/run-command'
import { ROLES } from '../../../src/roles/table'

const UTIL = '/usr/lib/ganeti/daemon-util'

/** A machine with these files; daemon-util knows which daemons run, and ends with a code for an order. */
function machine(files: readonly string[], active = new Set<string>(), codes: Readonly<Record<string, number>> = {}) {
  const orders: string[] = []
  const run: Run = async ([program = '', ...words]) => {
    const order = words.join(' ')
    if (words[0] !== 'check') orders.push(program === UTIL ? order : `${program} ${order}`)
    const isDown = words[0] === 'check' && !active.has(words[1] ?? '')
    const code = isDown ? 1 : (codes[order] ?? 0)
    return { code, signal: null, stdout: '', stderr: '', output: code === 0 ? '' : 'why', timedOut: false }
  }
  const existsSync = (file: unknown) => files.includes(String(file))
  const options = { paths: pathsOf('', 'node1'), disk: {} as Disk, files: { existsSync }, run, roles: ROLES }
  return { options, orders, daemons: new PlainDaemons(options) }
}

test('daemon-util is for real nodes with the package; systemd, where it is, goes first', async () => {
  const { options } = machine([UTIL])
  expect(await nodeDaemons(options)).toBeInstanceOf(PlainDaemons)
  expect(await nodeDaemons({ ...options, paths: pathsOf('/tmp/node1', 'node1') })).toBeUndefined()
  expect(await nodeDaemons(machine([]).options)).toBeUndefined()
  const both = machine([UTIL, '/run/systemd/system'])
  await nodeDaemons(both.options)
  expect(both.orders).toEqual([expect.stringContaining('systemctl show')])
})

test('a node starts and stops all, and its master one daemon behind the other', async () => {
  const { daemons, orders } = machine([])
  await daemons.restartAll()
  await daemons.startMaster(true)
  await daemons.stopMaster()
  const master = ['wconfd', 'luxid', 'maintd', 'rapi'].map((name) => `start ganeti-${name} --no-voting --yes-do-it`)
  expect(orders).toEqual(['stop-all', 'start-all', ...master, 'stop-master'])
})

test('whoever loses the votes is told so, and another failure with what was said', async () => {
  const ending = (code: number) => machine([], new Set(), { 'start ganeti-wconfd': code }).daemons
  await expect(ending(11).startMaster(false)).rejects.toThrow(NotElected)
  await expect(ending(1).startMaster(false)).rejects.toThrow('daemon-util start ganeti-wconfd ended with 1: why')
})

test('daemons whose place has changed are started and stopped', async () => {
  const { daemons, orders } = machine([], new Set(['ganeti-confd', 'ganeti-luxid']))
  expect(await daemons.isMaster()).toBe(true)
  await daemons.settle(({ name }) => name === 'kvmd')
  expect(orders).toEqual(['start ganeti-kvmd', 'stop ganeti-confd'])
})
