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
  const displayed = shownFiles({})
  try {
    const virtual = contextIn(root)
    const paths = isReal ? { ...pathsOf(virtual.paths.root, 'node1.test'), root: '' } : virtual.paths
    const context = { ...virtual, files: displayed.files, paths }
    const nic = { ...BRIDGED, nicparams: { ...BRIDGED.nicparams, link } }
    const nics = new KvmNics(context, new KvmLayout(context))
    return await nics.prepare(instanceDict(), nic, 2, new KvmParams(kvmParams))
  } finally {
    displayed.remove()
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
const VHOST = '/dev/vhost-net'
const [V4, V6] = ['ipv4', 'ipv6'].map((version) => `/proc/sys/net/${version}/conf`)
const SLOW = /^NIC 1 runs without vhost_net, .*\(modprobe vhost_net makes it\)$/
const ALONE_4 = /^NIC 1 is reached by its node only, .*IPv4 \(sysctl -w net.ipv4.ip_forward=1\)$/
const ALONE_6 = /^NIC 1 is reached by its node only, .*IPv6 \(sysctl -w net.ipv6.conf.all.forwarding=1\)$/
const ROUTED = { nicparams: { mode: 'routed', link: '' } }
const [IP4, IP6] = [
  { ...ROUTED, ip: '192.0.2.7' },
  { ...ROUTED, ip: 'fd00::7' },
]

rootTest.each([
  ['without vhost_net', { vhost_net: true }, {}, {}, [SLOW]],
  ['with vhost_net', { vhost_net: true }, {}, { [VHOST]: '' }, []],
  ['that need not have it', { vhost_net: false }, {}, {}, []],
  ['that cannot have it', { vhost_net: true, nic_type: 'e1000' }, {}, {}, []],
  [
    'behind nothing that forwards',
    {},
    IP4,
    { [`${V4}/eth0/forwarding`]: '0\n', [`${V4}/tap7/forwarding`]: '1\n' },
    [ALONE_4],
  ],
  [
    'behind an interface that forwards',
    {},
    IP4,
    { [`${V4}/eth0/forwarding`]: '0\n', [`${V4}/br0/forwarding`]: '1\n' },
    [],
  ],
  [
    'of IPv6 behind one interface',
    {},
    IP6,
    { [`${V6}/all/forwarding`]: '0\n', [`${V6}/br0/forwarding`]: '1\n' },
    [ALONE_6],
  ],
  ['of IPv6 behind a node that forwards', {}, IP6, { [`${V6}/all/forwarding`]: '1\n' }, []],
])('a NIC %s says what it lacks, and nothing else', async (_, params, more, files, remarks) => {
  const root = temporaryRoot()
  const displayed = shownFiles({ '/dev/net/tun': '', '/sys/class/net/br7/bridge/x': '', ...files })
  try {
    const run = () => Promise.resolve({ code: 0, output: '', stdout: '' } as never)
    const context = { ...contextIn(root), files: displayed.files, run }
    const nics = new KvmNics(context, new KvmLayout(context))
    const desired = new KvmParams({ ...kvmParams, vhost_net: false, ...params })
    const backend = await nics.prepare(instanceDict(), { ...BRIDGED, ...more }, 1, desired)
    expect(backend.kind).toBe('tap')
    expect(remarksOn(backend, 1)).toEqual(remarks.map((text) => expect.stringMatching(text)))
  } finally {
    displayed.remove()
    removeRoot(root)
  }
})
