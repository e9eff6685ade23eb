// Which daemons a node has, and whether each one answers, as a status.
import { daemons } from '../../../../src/collectors/daemon/daemons'
import { mismatch } from '../../../../src/collectors/shapes'
import { NODE, nodeSources, type RecordedNode } from '../../../support/node-sources'
import { SteppedClock } from '../../../support/stepped-clock'

const daemon = (role: string, pid: number, started: number, ticks: number) => ({
  [`/var/run/ganeti/ganeti-${role}.pid`]: `${pid}\n`,
  [`/proc/${pid}/cmdline`]: `ganeti-${role} ${NODE}\0`,
  [`/proc/${pid}/stat`]: `${pid} (node) S 1 1 1 0 -1 0 0 0 0 0 ${ticks} 0 0 0 20 0 11 0 ${started} 900 50 0\n`,
  [`/proc/${pid}/status`]: 'VmHWM:\t  60 kB\nVmRSS:\t  40 kB\n',
  [`/proc/${pid}/fd/0`]: '',
})

const UPTIME = { '/proc/uptime': '1000.00 1.00\n' }
interface Told {
  status: unknown
  daemons: { name: string; restarts: number; status: unknown }[]
}

/** One that is past the time in which daemons start. */
async function opened(node: RecordedNode) {
  const clock = new SteppedClock()
  const collector = daemons.open(nodeSources({ ...node, clock }), {})
  await clock.pass(30)
  return collector
}

async function look(collector: ReturnType<typeof daemons.open>): Promise<Told> {
  const data = await collector.collect()
  expect(mismatch(daemons.shape, data)).toBeUndefined()
  return data as Told
}

test('a daemon tells what it uses, and that it was started again', async () => {
  const clock = new SteppedClock()
  const node: RecordedNode = {
    clock,
    figures: { noded: { calls: 9 } },
    files: { ...UPTIME, ...daemon('noded', 7, 50_000, 100) },
  }
  const collector = daemons.open(nodeSources(node), {})
  const first = await look(collector)
  expect(first.daemons.find(({ name }) => name === 'noded')).toEqual({
    ...{ name: 'noded', program: 'ganeti-noded', running: true, pid: 7, uptime_s: 500, cpu_s: 1, cpu_load: null },
    ...{
      memory_bytes: 40960,
      memory_peak_bytes: 61440,
      open_files: 1,
      threads: 11,
      figures: { calls: 9 },
      restarts: 0,
    },
    status: { code: 0, message: '' },
  })
  await clock.pass(10)
  node.files = { ...UPTIME, ...daemon('noded', 7, 50_000, 150) }
  expect((await look(collector)).daemons.find(({ name }) => name === 'noded')).toMatchObject({ cpu_load: 0.05 })
  node.files = { ...UPTIME, ...daemon('noded', 8, 99_000, 1) }
  const again = { restarts: 1, status: { code: 1, message: 'noded was started again' } }
  expect((await look(collector)).daemons.find(({ name }) => name === 'noded')).toMatchObject(again)
  await clock.pass(600)
  const calm = { restarts: 1, status: { code: 0, message: '' } }
  expect((await look(collector)).daemons.find(({ name }) => name === 'noded')).toMatchObject(calm)
})

test('a node should have the daemons of its place; a file of another process is none', async () => {
  const files = { ...UPTIME, ...daemon('noded', 7, 1, 1), '/proc/7/cmdline': 'sleep\0' }
  const reported = await look(await opened({ files }))
  expect(reported.daemons.find(({ name }) => name === 'noded')?.status).toEqual({
    code: 4,
    message: 'noded does not run, and should on this node',
  })
  for (const role of ['wconfd', 'kvmd', 'sim', 'metad'])
    expect(reported.daemons.map(({ name }) => name)).not.toContain(role)
  const ssconf = '/var/lib/ganeti/ssconf_'
  const kvm = { [`${ssconf}hypervisor_list`]: 'fake\nkvm\n', [`${ssconf}enabled_user_shutdown`]: 'True\n', [`${ssconf}node_vm_capable`]: `${NODE}=True\n` } // prettier-ignore
  const withKvm = await look(daemons.open(nodeSources({ files: { ...files, ...kvm } }), {}))
  expect(withKvm.daemons.map(({ name }) => name)).toContain('kvmd')
  const requested = { ...files, ...daemon('metad', 9, 1, 1) }
  const withMetad = await look(daemons.open(nodeSources({ files: requested }), {}))
  expect(withMetad.daemons.find(({ name }) => name === 'metad')?.status).toEqual({ code: 0, message: '' })
  const killed = await look(await opened({ files: { ...requested, '/proc/9/cmdline': 'sleep\0' } }))
  expect(killed.daemons.find(({ name }) => name === 'metad')?.status).toMatchObject({ code: 4 })
  const master = { ...files, '/var/lib/ganeti/ssconf_master_node': `${NODE}\n` }
  const ofMaster = await look(daemons.open(nodeSources({ files: master }), {}))
  expect(ofMaster.daemons.map(({ name }) => name)).toEqual(expect.arrayContaining(['wconfd', 'luxid', 'rapi']))
})

test('while a node starts, a daemon that was not there yet is not missed; one that was there is', async () => {
  const node: RecordedNode = { clock: new SteppedClock(), files: { ...UPTIME, ...daemon('noded', 7, 50_000, 1) } }
  const collector = daemons.open(nodeSources(node), {})
  expect(await look(collector)).toMatchObject({ status: { code: 0 } })
  node.files = UPTIME
  const { daemons: reported } = await look(collector)
  expect(reported.filter(({ status }) => (status as { code: number }).code === 4)).toMatchObject([{ name: 'noded' }])
})

test('a daemon that runs and does not answer is told as such; one that is not there is not asked', async () => {
  const figures = { noded: new Error('no answer within 1 s'), mond: new Error('nobody asks it') }
  const { daemons: reported } = await look(await opened({ figures, files: { ...UPTIME, ...daemon('noded', 7, 1, 1) } }))
  const statusOf = (role: string) => reported.find(({ name }) => name === role)?.status
  expect(statusOf('noded')).toEqual({ code: 2, message: 'noded runs, and does not answer' })
  expect(statusOf('mond')).toMatchObject({ code: 4 })
})
