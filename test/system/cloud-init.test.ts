// A real Debian kernel finds the disk for cloud-init, and becomes what the instance's parameters and NICs say.
import * as path from 'node:path'
import { instanceHandlers as calls } from '../../src/node/handlers/instance'
import type { InstanceDict } from '../../src/rpc/node/dicts'
import { SerialConsole, qemuSkipped } from '../support/hypervisor'
import { qemuPresent } from '../support/needs'
import { NO_REASON, TinyNodes, socketOf } from '../support/tiny-nodes'
import { LINUX_GUEST_READY, linuxGuestPresent, linuxGuestSkipped, linuxKernel, writeInitrd } from './linux-guest'

const when = qemuPresent && linuxGuestPresent ? test : test.skip
if (!qemuPresent) test.skip(qemuSkipped, () => undefined)
if (!linuxGuestPresent) test.skip(linuxGuestSkipped, () => undefined)

let nodes: TinyNodes
beforeEach(() => (nodes = new TinyNodes()))
afterEach(() => nodes.remove())

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGk2Ynp0c2VjcmV0c2VjcmV0c2VjcmV0c2Vj ops@desk'

async function instance(): Promise<InstanceDict> {
  const initrd = path.join(nodes.root, 'initrd')
  writeInitrd(initrd)
  const kernel = { kernel_path: linuxKernel, initrd_path: initrd, root_path: '/dev/ram0', serial_speed: 115200 }
  const dict = await nodes.instance({ ...kernel, kernel_args: 'quiet panic=-1 nokaslr mitigations=off' })
  const netinfo = { uuid: 'n', name: 'front', network: '198.51.100.0/24', gateway: '198.51.100.1' }
  return {
    ...dict,
    beparams: { ...dict.beparams, minmem: 128, maxmem: 128 },
    osparams: { cloud_init: 'yes', hostname: 'www.example.com', ssh_authorized_keys: KEY },
    nics: [
      {
        uuid: '003fc157-66a8-4e6d-8b7e-ec4f69751396',
        mac: 'aa:00:00:bf:2f:16',
        ip: '198.51.100.9',
        nicparams: { mode: 'bridged', link: 'no-such-br0' },
        netinfo,
      },
    ],
  }
}

when('a guest learns its name, its key and its address, and its own disk stays the first', async () => {
  const dict = await instance()
  await calls.instance_start(nodes.first, dict, true, NO_REASON)
  const console = await SerialConsole.open(socketOf(nodes.first, 'serial'))
  await calls.instance_start(nodes.first, dict, false, NO_REASON)
  await console.expect(LINUX_GUEST_READY)
  console.type('echo BE""GIN; read-seed; cat /sys/block/vda/ro /sys/block/vdb/ro; echo DO""NE\n')
  const [, reported = ''] = await console.expect(/BEGIN([\s\S]*)DONE/)
  expect(reported.replaceAll('\r', '').trim().split('\n')).toEqual([
    `INSTANCE ${dict.uuid}`,
    'HOST www.example.com',
    `KEY ${KEY}`,
    expect.stringMatching(/^ADDRESS .* inet 198\.51\.100\.9\/24 /),
    expect.stringMatching(/^ROUTE default via 198\.51\.100\.1 dev /),
    '#cloud-config',
    '0',
    '1',
  ])
  await calls.instance_shutdown(nodes.first, dict, 20, NO_REASON)
})
