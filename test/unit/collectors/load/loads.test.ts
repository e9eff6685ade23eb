// Loads of processors, of the node and of its guests, from recorded figures of the kernel.
import { cpuAvgLoad } from '../../../../src/collectors/load/cpu-avg-load'
import { kvmCpuAvgLoad, kvmInstRss } from '../../../../src/collectors/load/kvm'
import { xenCpuAvgLoad } from '../../../../src/collectors/load/xen-cpu-avg-load'
import { mismatch } from '../../../../src/collectors/shapes'
import { nodeSources, type RecordedNode } from '../../../support/node-sources'
import { SteppedClock, settled } from '../../../support/stepped-clock'

const cpu = (first: number, second: number) => ({
  '/proc/stat': `cpu  ${first + second} 0 0 500 0 0 0\ncpu0 ${first} 0 0 400 0 0 0\ncpu1 ${second} 0 0 100 0 0 0\nintr 1\n`,
})

test('the load is what the processors did between the oldest and the newest look, over the time between', async () => {
  const clock = new SteppedClock()
  const node: RecordedNode = { clock, files: cpu(100, 0) }
  const collector = cpuAvgLoad.open(nodeSources(node), {})
  const first = collector.collect()
  await settled()
  node.files = cpu(110, 0)
  await clock.pass(1)
  expect(await first).toEqual({ cpu_number: 2, cpus: [0.5, 0], cpu_total: 0.5 })
  node.files = cpu(110, 50)
  const later = await collector.collect()
  expect(later).toEqual({ cpu_number: 2, cpus: [0.1, 0.5], cpu_total: 0.6 })
  expect(mismatch(cpuAvgLoad.shape, later)).toBeUndefined()
})

test('only the last ten minutes count', async () => {
  const clock = new SteppedClock()
  const node: RecordedNode = { clock, files: cpu(0, 0) }
  const collector = cpuAvgLoad.open(nodeSources(node), {})
  const first = collector.collect()
  await clock.pass(1)
  await first
  await clock.pass(1000)
  node.files = cpu(99_000, 0)
  const later = collector.collect()
  await clock.pass(1)
  await later
  await clock.pass(100)
  expect(await collector.collect()).toMatchObject({ cpu_total: 0 })
})

const xentop = (seconds: number) =>
  `      NAME  STATE   CPU(sec) CPU(%)\n  Domain-0 -----r 5 1.0\n  vm1 --b--- ${seconds} 0.1\n`

test('instances of Xen tell of a load after a hundred seconds, and bridge a restart', async () => {
  const clock = new SteppedClock()
  const node: RecordedNode = { clock, programs: { xentop: xentop(10) } }
  const collector = xenCpuAvgLoad.open(nodeSources(node), {})
  expect(await collector.collect()).toEqual({})
  await clock.pass(50)
  node.programs = { xentop: xentop(30) }
  expect(await collector.collect()).toEqual({})
  await clock.pass(50)
  node.programs = { xentop: xentop(5) }
  expect(await collector.collect()).toEqual({ vm1: 0.25 })
  node.programs = { xentop: xentop(0).replace(/ {2}vm1.*\n/, '') }
  await clock.pass(100)
  expect(await collector.collect()).toEqual({})
})

test('a node without Xen has no loads of it', async () => {
  expect(await xenCpuAvgLoad.open(nodeSources({}), {}).collect()).toEqual({})
})

const qemu = (ticks: number) => ({
  '/var/run/ganeti/kvm-hypervisor/pid/vm1': '77\n',
  '/var/run/ganeti/kvm-hypervisor/pid/gone': '78\n',
  '/var/run/ganeti/kvm-hypervisor/pid/other': '79\n',
  '/proc/77/cmdline': 'qemu-system-x86_64\0-name\0vm1\0',
  '/proc/77/stat': `77 (qemu) S 1 77 77 0 -1 0 0 0 0 0 ${ticks} 50 0 0 20 0 4 0 10000 900 1234 0\n`,
  '/proc/79/cmdline': 'sleep\0',
  '/proc/79/stat': '79 (sleep) S 1 79 79 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 1 1 1 0\n',
})

test('instances of KVM tell of their load and memory; a file of a process that is another one by now does not count', async () => {
  const clock = new SteppedClock()
  const node: RecordedNode = { clock, files: qemu(100) }
  const sources = nodeSources(node)
  const loads = kvmCpuAvgLoad.open(sources, {})
  expect(await loads.collect()).toEqual({})
  await clock.pass(10)
  node.files = qemu(350)
  expect(await loads.collect()).toEqual({ vm1: 0.25 })
  const memory = await kvmInstRss.open(sources, {}).collect()
  expect(memory).toEqual({ vm1: 1234 })
  expect(mismatch(kvmInstRss.shape, memory)).toBeUndefined()
  node.files = {}
  await clock.pass(10)
  expect(await loads.collect()).toEqual({})
})
