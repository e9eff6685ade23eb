// A NIC's end on a node that has not what the NIC asks for.
import { pathsOf } from '../../../../../src/lib/paths'
import { KvmLayout } from '../../../../../src/node/hypervisor/kvm/layout'
import { KvmNics, remarksOn } from '../../../../../src/node/hypervisor/kvm/nics'
import { KvmParams } from '../../../../../src/node/hypervisor/kvm/params'
import { contextIn, instanceDict, kvmParams, removeRoot, temporaryRoot } from '../../../../support/hypervisor'
import { shownFiles } from '../../../../support/shown-files'

const BRIDGED = { uuid: 'nic-1', mac: 'aa:00:00:00:00:01', name: 'lan', nicparams: { mode: 'bridged', link: 'br7' } }

/** Nothing can be made there: it has no /dev/net/tun. */
async function prepared(isReal: boolean, link = 'br7') {
  const root = temporaryRoot()
  const shown = shownFiles({})
  try {
    const virtual = contextIn(root)
    const paths = isReal ? { ...pathsOf(virtual.paths.root, 'node1.test'), root: '' } : virtual.paths
    const context = { ...virtual, files: shown.files, paths }
    const nic = { ...BRIDGED, nicparams: { ...BRIDGED.nicparams, link } }
    const nics = new KvmNics(context, new KvmLayout(context))
    return await nics.prepare(instanceDict(), nic, 2, new KvmParams(kvmParams))
  } finally {
    shown.remove()
    removeRoot(root)
  }
}

test('a NIC that cannot be had is an error on a real node, which says what is missing and what to do', async () => {
  await expect(prepared(true)).rejects.toThrow(
    'NIC 2 (lan) of instance vm1.test cannot be had on node node1.test: this process may not create tap devices. ' +
      'Set that right on the node, or give the NIC what is there: gnt-instance modify --net 2:modify,link=LINK vm1.test',
  )
})

test('on a virtual node it is the network of QEMU itself, with the reason, unless just that was asked for', async () => {
  await expect(prepared(false)).resolves.toEqual({ kind: 'user', reason: 'this process may not create tap devices' })
  await expect(prepared(false, 'user-mode')).resolves.toEqual({ kind: 'user' })
})

// Nobody else may make tap devices.
const rootTest = process.geteuid?.() === 0 ? test : test.skip
rootTest.each([
  [
    { vhost_net: true },
    [],
    [expect.stringMatching(/^NIC 1 runs without vhost_net: .*\(modprobe vhost_net makes it\)$/)],
  ],
  [{ vhost_net: true }, ['/dev/vhost-net'], []],
  [{ vhost_net: false }, [], []],
  [{ vhost_net: true, nic_type: 'e1000' }, [], []],
])('a NIC with %j on a node with %j says what it lacks', async (params, devices, remarks) => {
  const root = temporaryRoot()
  const shown = shownFiles(
    Object.fromEntries(['/dev/net/tun', '/sys/class/net/br7/bridge/x', ...devices].map((file) => [file, ''])),
  )
  try {
    const run = () => Promise.resolve({ code: 0, output: '', stdout: '' } as never)
    const context = { ...contextIn(root), files: shown.files, run }
    const layout = new KvmLayout(context)
    const nics = new KvmNics(context, layout)
    const backend = await nics.prepare(instanceDict(), BRIDGED, 1, new KvmParams({ ...kvmParams, ...params }))
    expect(backend.kind).toBe('tap')
    expect(remarksOn(backend, 1)).toEqual(remarks)
  } finally {
    shown.remove()
    removeRoot(root)
  }
})
