// Changing a NIC of a running guest, and telling it that a disk has grown, with a QEMU and a network that are pretended.
import { hotplug, resizeDisk } from '../../../../../src/node/hypervisor/kvm/hotplug'
import { deviceId } from '../../../../../src/node/hypervisor/kvm/devices'
import type { KvmMachines } from '../../../../../src/node/hypervisor/kvm/machines'
import { instanceDict, kvmParams } from '../../../../support/hypervisor'

const nic = (mac: string) => ({ uuid: 'n', mac, nicparams: { mode: 'bridged', link: 'br0', vlan: '' } })

/** Refuses NICs of these addresses, in these words. */
function machinesRefusing(refusals: Readonly<Record<string, string>>, more: object = {}) {
  const hvparams = { ...kvmParams, ...more }
  let runtime = { program: 'qemu', command: [], nics: [nic('aa:00:00:00:00:01')], hvparams, disks: [] }
  const input: string[] = []
  const qmp = { run: async () => ({}), eventAfter: async (...args: unknown[]) => (args[3] as () => Promise<unknown>)() }
  const machines = {
    running: async () => ({ command: [] }),
    runtime: async () => runtime,
    save: async (_: string, next: typeof runtime) => void (runtime = next),
    qmp: async (_: string, task: (line: typeof qmp) => Promise<unknown>) => task(qmp),
    nics: {
      makeRoom: async () => undefined,
      forget: async () => undefined,
      connect: async () => undefined,
      async prepare(_: unknown, { mac }: { mac: string }) {
        input.push(mac)
        if (refusals[mac] !== undefined) throw new Error(refusals[mac])
        return { kind: 'user', reason: 'there is no bridge br0 on this node' }
      },
    },
  }
  return { machines: machines as unknown as KvmMachines, given: input }
}

const change = (machines: KvmMachines) =>
  hotplug(machines, instanceDict(), 'hotmod', { target: 'nic', nic: nic('aa:00:00:00:00:02') }, 0)

test('a NIC that cannot be changed is the former one again', async () => {
  const { machines, given: input } = machinesRefusing({ 'aa:00:00:00:00:02': 'no such bridge' })
  await expect(change(machines)).rejects.toThrow(/^no such bridge$/)
  expect(input).toEqual(['aa:00:00:00:00:02', 'aa:00:00:00:00:01'])
})

test('a NIC that is otherwise than was asked for comes with a remark', async () => {
  const { remarks = [] } = await change(machinesRefusing({}).machines)
  expect(remarks).toEqual([expect.stringMatching(/^NIC 0 has QEMU's user-mode network, .*: there is no bridge br0 on/)])
})

test('where that fails too, both reasons are told', async () => {
  const { machines } = machinesRefusing({ 'aa:00:00:00:00:02': 'no such bridge', 'aa:00:00:00:00:01': 'no tap device' })
  await expect(change(machines)).rejects.toThrow(
    'no such bridge; the former NIC could not be given back, so the guest has none: no tap device',
  )
})

test('a QEMU that is locked in gets no NIC whose devices it could not open, keeps the one it has, and may lose it', async () => {
  const { machines, given: input } = machinesRefusing({}, { use_chroot: true })
  await expect(change(machines)).rejects.toThrow(
    'Hotplug of NICs is not supported with use_chroot: QEMU cannot see their devices any more. It does when the instance is stopped and started',
  )
  expect(input).toEqual([])
  const device = { target: 'nic', nic: nic('aa:00:00:00:00:01') } as const
  await expect(hotplug(machines, instanceDict(), 'hotremove', device, 0)).resolves.toBeDefined()
})

test('a QEMU without the rights of root is lent what it opens for a tap device, so that it does not do with less', async () => {
  const { machines } = machinesRefusing({})
  const lent: string[] = []
  const run = async (argv: readonly string[]) => ({ code: lent.push(argv.join(' ')) * 0, output: '' })
  const files = { stat: async () => ({ uid: 0, gid: 0, mode: 0o600 }), chown: async () => undefined }
  for (const vhost of [false, true])
    await change({
      ...machines,
      context: { run, files },
      running: async () => ({ command: ['-runas', 'nobody'] }),
      nics: {
        ...machines.nics,
        prepare: async () => ({ kind: 'tap', interface: 'tap0', vhost, queues: 1, remarks: [] }),
      },
    } as unknown as KvmMachines)
  const tun = 'chown nobody /dev/net/tun'
  expect(lent).toEqual([tun, tun, 'chown nobody /dev/vhost-net'])
})

/** A guest with a disk behind a link that leads to a socket, or to a file; commands that QEMU refuses, and in which words. */
function machinesWithDisk(isServed: boolean, refusals: Readonly<Record<string, string>> = {}) {
  const disk = { uuid: 'd', dev_type: 'drbd', size: 8, hvinfo: { driver: 'virtio-blk-pci', id: 'disk-d' } }
  const requested: string[] = []
  const qmp = {
    async run(command: string, args: Record<string, unknown>) {
      const line = [command, args['node-name'] ?? args['value'], args['size']]
        .filter((part) => part !== undefined)
        .join(' ')
      requested.push(line)
      if (refusals[line] !== undefined) throw new Error(refusals[line])
    },
  }
  const kind = { isSocket: () => isServed, isBlockDevice: () => false, isFile: () => !isServed }
  const machines = {
    find: async () => ({}),
    runtime: async () => ({ hvparams: kvmParams, disks: [{ disk, link: '/link' }] }),
    layout: { localLink: (link: string) => link },
    context: { files: { stat: async () => kind, statfs: async () => ({ type: 0 }), realpath: async () => '/' } },
    qmp: async (_: string, task: (line: typeof qmp) => Promise<unknown>) => task(qmp),
  }
  const grow = () => resizeDisk(machines as unknown as KvmMachines, instanceDict(), disk, 8 << 20)
  return { asked: requested, grow, id: deviceId('disk', disk) }
}

test('a disk of a server is opened again, because only then its size is told, and has its name afterwards', async () => {
  const { asked: requested, grow, id } = machinesWithDisk(true)
  await grow()
  expect(requested).toEqual([
    ...[`blockdev-add ${id}-new`, `qom-set ${id}-new`, `blockdev-del ${id}`],
    ...[`blockdev-add ${id}`, `qom-set ${id}`, `blockdev-del ${id}-new`, `block_resize ${id} ${8 << 20}`],
  ])
})

test('other disks are only told their size', async () => {
  const { asked: requested, grow, id } = machinesWithDisk(false)
  await grow()
  expect(requested).toEqual([`block_resize ${id} ${8 << 20}`])
})

test('a guest keeps its disk where the server cannot be opened again, or an attempt did not end', async () => {
  const { id } = machinesWithDisk(true)
  const away = machinesWithDisk(true, { [`blockdev-add ${id}-new`]: 'Connection refused' })
  await expect(away.grow()).rejects.toThrow('Connection refused')
  expect(away.asked).toEqual([`blockdev-add ${id}-new`])
  const refused = machinesWithDisk(true, { [`qom-set ${id}-new`]: 'no' })
  await expect(refused.grow()).rejects.toThrow('no')
  expect(refused.asked.at(-1)).toBe(`blockdev-del ${id}-new`)
  const again = machinesWithDisk(true, { [`blockdev-add ${id}-new`]: `Duplicate nodes with node-name='${id}-new'` })
  await again.grow()
  expect(again.asked.at(-1)).toBe(`block_resize ${id} ${8 << 20}`)
})
