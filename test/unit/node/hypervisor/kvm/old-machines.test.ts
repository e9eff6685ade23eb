// Guests on types of machines that the installed QEMU calls deprecated, or does not have any more, are told.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { systemFiles } from '../../../../../src/lib/files'
import { silentLog } from '../../../../../src/lib/log'
import type { KvmMachines } from '../../../../../src/node/hypervisor/kvm/machines'
import { oldMachines } from '../../../../../src/node/hypervisor/kvm/old-machines'
import type { Qmp } from '../../../../../src/node/hypervisor/kvm/qmp'
import { removeRoot, temporaryRoot } from '../../../../support/hypervisor'
import { recordedPrograms } from '../../../../support/recorded-programs'

const MACHINES = `Supported machines are:
pc                   Standard PC (i440FX + PIIX, 1996) (alias of pc-i440fx-11.1)
pc-i440fx-11.1       Standard PC (i440FX + PIIX, 1996) (default)
pc-i440fx-7.2        Standard PC (i440FX + PIIX, 1996) (deprecated)
q35                  Standard PC (Q35 + ICH9, 2009) (alias of pc-q35-11.1)
pc-q35-11.1          Standard PC (Q35 + ICH9, 2009)
`

test('by the name in its command, or by what its own QEMU says where that is an alias', async () => {
  const folder = temporaryRoot()
  const qemu = path.join(folder, 'qemu')
  fs.writeFileSync(qemu, '', { mode: 0o755 })
  const programs = recordedPrograms([
    { argv: [qemu, '-version'], stdout: 'QEMU emulator version 11.1.3\n' },
    { argv: [qemu, '-machine', 'help'], stdout: MACHINES },
  ])
  const commands: Record<string, string[]> = {
    new: ['-machine', 'pc-i440fx-11.1,acpi=off'],
    old: ['-machine', 'pc-i440fx-7.2,acpi=off'],
    lost: ['-M', 'type=pc-i440fx-2.0'],
    alias: ['-machine', 'pc'],
    'new-alias': ['-machine', 'q35'],
    silent: ['-machine', 'pc'],
    unnamed: [],
  }
  const types: Record<string, string> = { alias: 'pc-i440fx-7.2-machine', 'new-alias': 'pc-q35-11.1-machine' }
  const machines = {
    context: { files: systemFiles, run: programs.run, log: silentLog },
    all: async () => Object.entries(commands).map(([name, words]) => ({ name, command: [qemu, ...words] })),
    async qmp(name: string, task: (qmp: Qmp) => Promise<unknown>) {
      if (types[name] === undefined) throw new Error('its monitor does not answer')
      return task({ run: async () => types[name] } as unknown as Qmp)
    },
  } as unknown as KvmMachines
  try {
    const version = '11.1.3'
    expect(await oldMachines(machines)).toEqual([
      { instance: 'old', machine: 'pc-i440fx-7.2', version, gone: false },
      { instance: 'lost', machine: 'pc-i440fx-2.0', version, gone: true },
      { instance: 'alias', machine: 'pc-i440fx-7.2', version, gone: false },
    ])
    expect(programs.left()).toEqual([])
  } finally {
    removeRoot(folder)
  }
})
