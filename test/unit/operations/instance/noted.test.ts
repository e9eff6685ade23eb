// What jobs show of their opcodes once they have run, and names that no name server knows.
import { pathsOf } from '../../../../src/lib/paths'
import { resolveForCreation } from '../../../../src/operations/instance/resolve'
import { FakeEnvironment } from '../../../support/fake-environment'

jest.mock('../../../../src/lib/resolve', () => ({
  resolveHost: async (name: string) => (name === 'known.test' ? { ip: '192.0.2.7' } : { error: 'ENOTFOUND' }),
  answersTcp: async () => false,
}))

const inst2 = 'inst2.gnt.example'
let cluster: FakeEnvironment
beforeEach(() => {
  cluster = new FakeEnvironment()
})

test('a short name is shown in full, with the uuid', async () => {
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: 'inst2' })
  const uuid = cluster.instance('inst2')?.uuid
  expect(cluster.noted).toEqual({ instance_name: inst2, instance_uuid: uuid, admin_state_source: 'admin' })
})

test('changes of devices are shown in their long form, with what new ones got', async () => {
  await cluster.run('OP_INSTANCE_SHUTDOWN', { instance_name: inst2 })
  const op = { nics: [['add', { link: 'xen-br0' }]], disks: [['add', { size: 4 }]], hotplug: false }
  await cluster.run('OP_INSTANCE_SET_PARAMS', { instance_name: inst2, ...op })
  const nic = cluster.instance('inst2')?.nics.at(-1)
  const disk = cluster.config.disks[cluster.instance('inst2')?.disks.at(-1) ?? '']
  expect(cluster.noted).toMatchObject({
    nics: [['add', -1, { link: 'xen-br0', mac: nic?.mac }]],
    disks: [['add', -1, { size: 4, mode: 'rw', dev_type: disk?.dev_type }]],
    file_driver: 'loop',
  })
})

test('a name must resolve on a real node; in a virtual cluster it may be unknown', async () => {
  const virtual = pathsOf('/virtual/node1.test', 'node1.test')
  await expect(resolveForCreation(virtual, 'known.test', false)).resolves.toBe('192.0.2.7')
  await expect(resolveForCreation(virtual, 'unknown.test', false)).resolves.toBeUndefined()
  await expect(resolveForCreation(pathsOf('', 'node1.test'), 'unknown.test', false)).rejects.toThrow('does not resolve')
})
