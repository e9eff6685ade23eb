// Devices of the whole machine, which a QEMU without root's rights opens for a NIC that is plugged in.
import type { HypervisorContext } from '../../../../../src/node/hypervisor/hypervisor'
import { lentDevices } from '../../../../../src/node/hypervisor/kvm/security'

const TUN = '/dev/net/tun'
const VHOST = '/dev/vhost-net'

/** A machine with both devices, which root owns; `done` tells what happens to them. */
function machine(modes: Readonly<Record<string, number>> = { [TUN]: 0o20600, [VHOST]: 0o20660 }, refusal?: string) {
  const done: string[] = []
  const files = {
    stat: async (device: string) => ({ uid: 0, gid: 109, mode: modes[device] ?? 0 }),
    chown: async (device: string, uid: number, gid: number) => void done.push(`${device} is ${uid}:${gid}'s`),
  }
  const run = async (argv: readonly string[]) => {
    done.push(argv.join(' '))
    return { code: refusal === undefined || argv[2] !== VHOST ? 0 : 1, output: refusal ?? '' }
  }
  const host = { files, run } as unknown as HypervisorContext
  const open = (user: string | undefined) => lentDevices(host, [TUN, VHOST], user, async () => void done.push('opened'))
  return { done, open, host }
}

test("the user of QEMU owns them for the moment in which they are opened, and the devices' group stays", async () => {
  const { done, open } = machine()
  await open('61234:61234')
  expect(done).toEqual([
    ...[`chown 61234 ${TUN}`, `chown 61234 ${VHOST}`, 'opened'],
    ...[`${TUN} is 0:109's`, `${VHOST} is 0:109's`],
  ])
})

test('a device that all may open changes no owner, and root needs none', async () => {
  const forAll = machine({ [TUN]: 0o20666, [VHOST]: 0o20660 })
  await forAll.open('nobody')
  expect(forAll.done).toEqual([`chown nobody ${VHOST}`, 'opened', `${VHOST} is 0:109's`])
  const asRoot = machine()
  await asRoot.open(undefined)
  expect(asRoot.done).toEqual(['opened'])
})

test('two guests have them one after the other, also where the first one fails', async () => {
  const { done, open, host } = machine()
  const failing = lentDevices(host, [TUN], 'one', async () => {
    await new Promise(setImmediate)
    throw new Error('no')
  })
  await Promise.all([expect(failing).rejects.toThrow('no'), open('two')])
  expect(done.slice(0, 3)).toEqual([`chown one ${TUN}`, `${TUN} is 0:109's`, `chown two ${TUN}`])
})

test('if one cannot be given away, that is said, and nothing stays given away', async () => {
  const { done, open } = machine(undefined, 'Read-only file system')
  await expect(open('nobody')).rejects.toThrow(`${VHOST} cannot be given to the user nobody: Read-only file system`)
  expect(done).toContain(`${TUN} is 0:109's`)
  expect(done).not.toContain('opened')
})
