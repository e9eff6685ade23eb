// Orders to daemons become orders to systemd, and its answers our words.
import { NotElected } from '../../../src/bootstrap/node-daemons'
import { SystemUnits, systemUnits } from '../../../src/bootstrap/system-units'
import type { Disk } from '../../../src/lib/disk'
import { pathsOf } from '../../../src/lib/paths'
import type { Run } from '../../../src/lib/programs/run-command'
import { ROLES } from '../../../src/roles/table'

const RESULT = { signal: null, stderr: '', timedOut: false }

/** systemd, as far as it is asked: units that run, and what their last process ended with. */
function double({ active = new Set(), failing = {} }: { active?: Set<string>; failing?: Record<string, string> } = {}) {
  const orders: string[] = []
  const written: string[] = []
  const run: Run = async ([, ...words]) => {
    const [verb, ...units] = words.filter((word) => !word.startsWith('--'))
    const unit = units[0] ?? ''
    const answer = (code: number, stdout = '') => ({ ...RESULT, code, stdout, output: stdout })
    if (verb === 'show' && words.includes('--property=LoadState')) return answer(0, 'loaded\n')
    if (verb === 'show' && words.includes('--property=ActiveState'))
      return answer(0, active.has(unit) ? 'active\n' : 'inactive\n')
    if (verb === 'show') return answer(0, `${failing[unit] ?? '0'}\n`)
    if (verb === 'reset-failed') return answer(0)
    orders.push(`${verb} ${units.join(' ')}`)
    if (failing[unit] !== undefined) return answer(1, `Job for ${unit} failed`)
    for (const one of units)
      if (verb === 'stop') active.delete(one)
      else active.add(one)
    return answer(0)
  }
  const disk = {
    write: async (file: string, text: string) => void written.push(`${file}: ${text}`),
    remove: async (file: string) => void written.push(`removed ${file}`),
  } as unknown as Disk
  const options = { paths: pathsOf('', 'node1'), disk, files: { existsSync: () => true }, run, roles: ROLES }
  return { options, units: new SystemUnits(options), orders, written, active }
}

test('a virtual node is never one of units, whatever runs the machine', async () => {
  const { options } = double()
  expect(await systemUnits(options)).toBeInstanceOf(SystemUnits)
  expect(await systemUnits({ ...options, paths: pathsOf('/tmp/node1', 'node1') })).toBeUndefined()
})

test('the daemons of the master start one behind the other, and what they are told once is gone afterwards', async () => {
  const { units, orders, written } = double()
  await units.startMaster(true)
  expect(orders).toEqual([
    'start ganeti-wconfd.service',
    'start ganeti-luxid.service',
    'start ganeti-maintd.service',
    'start ganeti-rapi.service',
    'start ganeti-master.target',
  ])
  expect(written.slice(0, 2)).toEqual([
    '/var/lib/ganeti/ganeti-wconfd.onetime.conf: ONETIME_ARGS=--no-voting --yes-do-it\n',
    'removed /var/lib/ganeti/ganeti-wconfd.onetime.conf',
  ])
})

test('a master that loses the votes says so, and another failure is told as systemd told it', async () => {
  const lost = double({ failing: { 'ganeti-wconfd.service': '11' } })
  await expect(lost.units.startMaster(false)).rejects.toThrow(NotElected)
  const broken = double({ failing: { 'ganeti-wconfd.service': '1' } })
  await expect(broken.units.startMaster(false)).rejects.toThrow('Job for ganeti-wconfd.service failed')
})

test('daemons whose place has changed are started and stopped', async () => {
  const { units, orders } = double({ active: new Set(['ganeti-confd.service']) })
  await units.settle(({ name }) => name === 'kvmd')
  expect(orders).toEqual(['start ganeti-kvmd.service', 'stop ganeti-confd.service'])
})

test('a daemon that does not start keeps no other from being started and stopped', async () => {
  const failing = { 'ganeti-kvmd.service': '1' }
  const { units, orders } = double({ active: new Set(['ganeti-confd.service']), failing })
  await expect(units.settle(({ name }) => name === 'kvmd')).rejects.toThrow('Job for ganeti-kvmd.service failed')
  expect(orders).toEqual(['start ganeti-kvmd.service', 'stop ganeti-confd.service'])
})
