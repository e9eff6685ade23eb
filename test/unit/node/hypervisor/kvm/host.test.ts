// The features that a machine offers to QEMU, told from recorded answers of QEMU 7.2 and from what its kernel shows.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { accelerator, qemuFacts } from '../../../../../src/node/hypervisor/kvm/host'
import { KvmParams } from '../../../../../src/node/hypervisor/kvm/params'
import { checkCpus, checkPinning, pinCpus } from '../../../../../src/node/hypervisor/kvm/pinning'
import type { Qmp } from '../../../../../src/node/hypervisor/kvm/qmp'
import { linuxNodeInfo } from '../../../../../src/node/hypervisor/linux-node'
import { systemFiles } from '../../../../../src/lib/files'
import { removeRoot, temporaryRoot } from '../../../../support/hypervisor'
import { recordedPrograms } from '../../../../support/recorded-programs'
import { shownFiles } from '../../../../support/shown-files'

const VERSION =
  'QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)\nCopyright (c) 2003-2022 Fabrice Bellard\n'
const MACHINES = `Supported machines are:
microvm              microvm (i386)
pc                   Standard PC (i440FX + PIIX, 1996) (alias of pc-i440fx-7.2)
pc-i440fx-7.2        Standard PC (i440FX + PIIX, 1996) (default)
pc-i440fx-1.4        Standard PC (i440FX + PIIX, 1996) (deprecated)
q35                  Standard PC (Q35 + ICH9, 2009) (alias of pc-q35-7.2)
none                 empty machine
`

describe('QEMU', () => {
  let folder: string
  let qemu: string
  beforeEach(() => {
    folder = temporaryRoot()
    qemu = path.join(folder, 'qemu')
    fs.writeFileSync(qemu, '', { mode: 0o755 })
  })
  afterEach(() => removeRoot(folder))

  const answers = (version: string, machines: string) => [
    { argv: [qemu, '-version'], stdout: version },
    { argv: [qemu, '-machine', 'help'], stdout: machines },
  ]

  test('tells its version and its machines, and is asked again only when it is another one', async () => {
    const programs = recordedPrograms([
      ...answers(VERSION, MACHINES),
      ...answers(VERSION.replace('7.2.22', '8.0'), MACHINES),
    ])
    const host = { files: systemFiles, run: programs.run }
    const facts = {
      ...{ program: qemu, version: [7, 2, 22], defaultMachine: 'pc-i440fx-7.2' },
      machines: ['microvm', 'pc', 'pc-i440fx-7.2', 'pc-i440fx-1.4', 'q35', 'none'],
      ...{ deprecated: ['pc-i440fx-1.4'], aliases: ['pc', 'q35'] },
    }
    await expect(qemuFacts(host, qemu)).resolves.toEqual(facts)
    await expect(qemuFacts(host, qemu)).resolves.toEqual(facts)
    expect(programs.asked.length).toBe(2)
    fs.utimesSync(qemu, 1, 1)
    await expect(qemuFacts(host, qemu)).resolves.toEqual({ ...facts, version: [8, 0, 0] })
  })

  test('of one machine is not taken for that of another', async () => {
    const one = recordedPrograms(answers(VERSION, MACHINES))
    const other = recordedPrograms(answers(VERSION.replace('7.2.22', '9.1.0'), MACHINES))
    await expect(qemuFacts({ files: systemFiles, run: one.run }, qemu)).resolves.toMatchObject({ version: [7, 2, 22] })
    await expect(qemuFacts({ files: systemFiles, run: other.run }, qemu)).resolves.toMatchObject({ version: [9, 1, 0] })
  })

  test('that fails, or says something else, is refused with its words', async () => {
    const stderr = 'qemu: error while loading shared libraries: libpixman-1.so.0: cannot open shared object file\n'
    const broken = recordedPrograms(answers('', '').map((one) => ({ ...one, code: 127, stderr })))
    await expect(qemuFacts({ files: systemFiles, run: broken.run }, qemu)).rejects.toThrow(
      `${qemu} -version failed: ${stderr.trim()}`,
    )
    const other = recordedPrograms(answers('hello\n', ''))
    await expect(qemuFacts({ files: systemFiles, run: other.run }, qemu)).rejects.toThrow(
      `${qemu} does not tell its version and machines: hello`,
    )
  })
})

test('KVM is used where the processor has it and the device can be opened, and never asked for elsewhere', async () => {
  const displayed = shownFiles({ '/proc/cpuinfo': 'flags\t\t: fpu sse\n', '/dev/kvm': '' })
  const on = (kvm_flag: string) => accelerator(displayed.files, new KvmParams({ kvm_flag }))
  await expect(on('')).resolves.toBe('tcg')
  await expect(on('enabled')).rejects.toThrow('no usable /dev/kvm')
  displayed.put('/proc/cpuinfo', 'flags\t\t: fpu svm sse\n')
  await expect(on('')).resolves.toBe('kvm')
  await expect(on('enabled')).resolves.toBe('kvm')
  await expect(on('disabled')).resolves.toBe('tcg')
  displayed.remove()
})

test('processors and their sockets are counted, on machines that number them in either way', async () => {
  const meminfo = 'MemTotal: 4096000 kB\nMemFree: 1024000 kB\nBuffers: 1024 kB\nCached: 2048 kB\nActive: 512000 kB\n'
  const processor = (cpu: number, socket: number) => `processor\t: ${cpu}\nphysical id\t: ${socket}\n\n`
  const displayed = shownFiles({
    '/proc/meminfo': meminfo,
    '/proc/cpuinfo': [processor(0, 0), processor(1, 0), processor(2, 1), processor(3, 1)].join(''),
  })
  const common = { memory_total: 4000, memory_free: 1003, memory_dom0: 500, cpu_nodes: 1 }
  const info = () => linuxNodeInfo(displayed.files)
  await expect(info()).resolves.toEqual({ ...common, cpu_total: 4, cpu_dom0: 4, cpu_sockets: 2 })
  displayed.put(
    '/proc/cpuinfo',
    '# processors    : 2\nprocessor 0: version = 00,  identification = 1\nprocessor 1: version = 00\n',
  )
  await expect(info()).resolves.toEqual({ ...common, cpu_total: 2, cpu_dom0: 2, cpu_sockets: 1 })
  displayed.remove()
})

describe('a mask of processors', () => {
  test('is refused if the node has no CPU of a part, and before a start if it has another number of parts', async () => {
    const displayed = shownFiles({ '/sys/devices/system/cpu/online': '0-1,4\n' })
    const check = (mask: string) => checkCpus(displayed.files, mask)
    for (const mask of ['', 'all', '63,4', '1:4', 'all:0-63']) await check(mask)
    await expect(check('0:2-3')).rejects.toThrow("Parameter 'cpu_mask': this node has none of the CPUs 2,3, only 0-1,4")
    expect(() => checkPinning('0:1:0', 1)).toThrow('Number of vCPUs [1] does not match the CPU mask [0:1:0]')
    for (const mask of ['', '0:1:0']) checkPinning(mask, 3)
    // Where the kernel does not say which it has.
    displayed.remove()
    await check('63')
  })

  const threads = [{ 'cpu-index': 0, 'thread-id': 71 }, { 'cpu-index': 1, 'thread-id': 72 }] // prettier-ignore
  const qmp = { run: async () => threads } as unknown as Qmp

  test('for the whole instance is set for its process and all threads of it', async () => {
    const programs = recordedPrograms([{ argv: 'taskset -a -p -c 0,1,3 70' }])
    await pinCpus(programs.run, qmp, '0-3,^2', 70)
    expect(programs.left()).toEqual([])
  })

  test('for each virtual CPU is set for the thread of each, and those that may run anywhere are left alone', async () => {
    const programs = recordedPrograms([{ argv: 'taskset -p -c 2 72' }])
    await pinCpus(programs.run, qmp, 'all:2', 70)
    expect(programs.left()).toEqual([])
    await expect(pinCpus(programs.run, qmp, '1:2:3', 70)).rejects.toThrow(
      'Number of vCPUs [2] does not match the CPU mask [1:2:3]',
    )
  })

  test('that the node cannot honour is told with the words of taskset', async () => {
    const stderr = "taskset: failed to set pid 70's affinity: Invalid argument\n"
    const { run } = recordedPrograms([{ argv: 'taskset -a -p -c 99 70', code: 1, stderr }])
    await expect(pinCpus(run, qmp, '99', 70)).rejects.toThrow(`taskset -a -p -c 99 70 failed: ${stderr.trim()}`)
  })
})
