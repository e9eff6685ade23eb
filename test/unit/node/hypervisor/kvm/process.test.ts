// QEMU processes of a node, found and ended on a machine whose processes the test writes.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { pathsOf } from '../../../../../src/lib/paths'
import { systemProcesses } from '../../../../../src/lib/programs/processes'
import { KvmLayout } from '../../../../../src/node/hypervisor/kvm/layout'
import { findProcess, killQemu } from '../../../../../src/node/hypervisor/kvm/process'
import { removeRoot, temporaryRoot } from '../../../../support/hypervisor'
import { shownFiles, type ShownFiles } from '../../../../support/shown-files'
import { SteppedClock } from '../../../../support/stepped-clock'

const NAME = 'vm1.test'
let folder: string
let layout: KvmLayout
let machine: ShownFiles
let ended: number[]

beforeEach(() => {
  folder = temporaryRoot()
  machine = shownFiles({ '/proc/1/cmdline': 'init' })
  ended = []
  const signal = (pid: number) => {
    ended.push(pid)
    fs.rmSync(machine.place(`/proc/${pid}`), { recursive: true })
    return true
  }
  layout = new KvmLayout({
    paths: pathsOf(path.join(folder, 'node1'), 'node1'),
    clock: new SteppedClock(),
    processes: { ...systemProcesses, signal },
    files: machine.files,
  })
  fs.mkdirSync(layout.pidDir(), { recursive: true })
})
afterEach(() => {
  machine.remove()
  removeRoot(folder)
})

function runs(pid: number, name = NAME): void {
  const command = ['/usr/bin/kvm', '-name', name, '-pidfile', layout.pidFile(name), '-daemonize', '']
  machine.put(`/proc/${pid}/cmdline`, command.join('\0'))
}

test('a QEMU that begins is two processes without a PID file, and both are ended', async () => {
  runs(100)
  runs(101)
  runs(102, 'vm2.test')
  const found = await findProcess(layout, NAME)
  expect(found).toMatchObject({ pid: 100, name: NAME })
  if (found) await killQemu(found, layout, layout.host.clock)
  expect(ended).toEqual([100, 101])
})

test('a QEMU that begins is found although a PID file of an earlier one is left', async () => {
  fs.writeFileSync(layout.pidFile(NAME), '99\n')
  expect(await findProcess(layout, NAME)).toBeUndefined()
  runs(101)
  expect(await findProcess(layout, NAME)).toMatchObject({ pid: 101 })
})
