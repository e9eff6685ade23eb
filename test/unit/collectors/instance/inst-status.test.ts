// Whether each instance runs as the configuration wants it.
import { instStatus } from '../../../../src/collectors/instance/inst-status'
import type { BackEnd } from '../../../../src/collectors/report'
import { mismatch } from '../../../../src/collectors/shapes'
import { MARK } from '../../../../src/model/marks'
import { CONFD } from '../../../../src/rpc/confd/protocol'
import { NODE, nodeSources, type RecordedNode } from '../../../support/node-sources'

const REASONS = '/var/run/ganeti/instance-reason'
const trail = (action: string) =>
  JSON.stringify([
    ['gnt:client:gnt-instance', 'maintenance', 1],
    [`gnt:daemon:noded:${action}`, '', 2],
  ])

const instance = (name: string, admin_state: string, hypervisor = 'fake') => ({
  ...{ name, uuid: `uuid-${name}`, admin_state, hypervisor, mtime: 1.5 },
})

function running(...names: string[]): BackEnd {
  const all = new Map(names.map((name) => [name, { memory: 64, vcpus: 1, state: 0, time: 0 }]))
  return { allInfo: () => Promise.resolve(all), nodeInfo: () => Promise.reject(new Error('not asked')) }
}

async function report(instances: readonly object[], node: RecordedNode) {
  const answers = { [`${CONFD.nodeInstances} ${NODE}`]: [instances, []], ...node.answers }
  const data = await instStatus.open(nodeSources({ ...node, answers }), {}).collect()
  expect(mismatch(instStatus.shape, data)).toBeUndefined()
  return data as { instances: Record<string, unknown>[]; status: unknown }
}

test('a crash differs from a stop that somebody asked for', async () => {
  const files = { [`${REASONS}/crashed`]: trail('start'), [`${REASONS}/stopped`]: trail('shutdown') }
  const { instances, status } = await report(
    [instance('crashed', 'up'), instance('stopped', 'up'), instance('fine', 'up'), instance('planned', 'down')],
    { files, backEnds: { fake: running('fine') } },
  )
  expect(instances.map(({ name, actualState, status }) => [name, actualState, status])).toEqual([
    ['crashed', 'crashed', { code: 4, message: 'The instance ended, and nobody had asked for that' }],
    ['stopped', 'shutdown', { code: 4, message: 'The instance was stopped on request of gnt:client:gnt-instance' }],
    ['fine', 'running', { code: 0, message: '' }],
    ['planned', 'shutdown', { code: 0, message: '' }],
  ])
  expect(instances[1]?.['state_reason']).toEqual(JSON.parse(trail('shutdown')))
  expect(status).toMatchObject({ code: 4, message: expect.stringContaining('\ncrashed: The instance ended') })
})

test('nobody learns from a report who did what with which token', async () => {
  const marks = Object.values(MARK).map((source) => [source, 'x', 1])
  const text = JSON.stringify([...marks, ...(JSON.parse(trail('shutdown')) as unknown[])])
  const { instances } = await report([instance('a', 'up')], { files: { [`${REASONS}/a`]: text } })
  expect(instances[0]?.['state_reason']).toEqual(JSON.parse(trail('shutdown')))
  expect(JSON.stringify(instances)).not.toContain('gantry:')
})

test.each([
  ['paused', 'paused'],
  ['suspended', 'paused'],
  ['io-error', 'paused'],
  ['guest-panicked', 'crashed'],
])('a machine that is there and does not run is bad, and its state is told: %s', async (machine_state, state) => {
  const all = new Map([['a', { memory: 64, vcpus: 1, state: 0, time: 0, machine_state }]])
  const kvm = { ...running(), allInfo: () => Promise.resolve(all) }
  const message = `The instance is not running as it should be: QEMU says ${machine_state}`
  const desired = await report([instance('a', 'up', 'kvm')], { backEnds: { kvm } })
  expect(desired.instances[0]).toMatchObject({ actualState: state, status: { code: 4, message } })
  const unwanted = await report([instance('a', 'down', 'kvm')], { backEnds: { kvm } })
  expect(unwanted.instances[0]).toMatchObject({ actualState: state, status: { code: 4 } })
})

test.each(['postmigrate', 'finish-migrate', 'inmigrate'])(
  'nobody can say how a guest is that a migration takes to another node, or has not brought yet: %s',
  async (machine_state) => {
    const all = new Map([['a', { memory: 64, vcpus: 1, state: 0, time: 0, machine_state }]])
    const kvm = { ...running(), allInfo: () => Promise.resolve(all) }
    const message = `A migration of the instance has not ended here: QEMU says ${machine_state}`
    for (const desired of ['up', 'down']) {
      const { instances } = await report([instance('a', desired, 'kvm')], { backEnds: { kvm } })
      expect(instances[0]).toMatchObject({ actualState: 'unknown', status: { code: 2, message } })
    }
  },
)

test('an instance that runs and should not is bad, one that is offline is unknown', async () => {
  const { instances } = await report([instance('a', 'down'), instance('b', 'offline')], {
    backEnds: { fake: running('a') },
  })
  expect(instances.map(({ actualState, status }) => [actualState, status])).toEqual([
    ['running', { code: 4, message: 'The instance is not stopped as it should be' }],
    ['shutdown', { code: 2, message: 'The instance is marked as offline' }],
  ])
})

test.each([
  ['True', { code: 0, message: '' }],
  ['False', { code: 1, message: 'The user of the instance shut it down from inside' }],
])('what its user shut down from inside is fine where users may (%s), else it heals', async (allowed, expected) => {
  const all = new Map([['a', { memory: 0, vcpus: 0, state: 1, time: 0 }]])
  const fake = { ...running(), allInfo: () => Promise.resolve(all) }
  const files = { '/var/lib/ganeti/ssconf_enabled_user_shutdown': `${allowed}\n` }
  const { instances } = await report([instance('a', 'up')], { files, backEnds: { fake } })
  expect(instances[0]).toMatchObject({ actualState: 'shutdown', status: expected })
})

test('a hypervisor that cannot be asked leaves its instances unknown, and others as they are', async () => {
  const kvm = { ...running(), allInfo: () => Promise.reject(new Error('no answer')) }
  const { instances } = await report(
    [instance('a', 'up', 'kvm'), instance('b', 'up'), instance('c', 'up', 'lxc'), instance('d', 'up', 'xen-pvm')],
    { backEnds: { kvm, fake: running('b') } },
  )
  expect(instances.map(({ actualState, status }) => [actualState, status])).toEqual([
    ['unknown', { code: 2, message: 'The instances of kvm cannot be listed: no answer' }],
    ['running', { code: 0, message: '' }],
    ['unknown', { code: 2, message: "The instances of lxc cannot be listed: Unknown hypervisor 'lxc'" }],
    ['unknown', { code: 2, message: 'The instances of xen-pvm cannot be listed: xl is not installed' }],
  ])
})

test('an instance of KVM tells since when it runs', async () => {
  const files = {
    '/var/run/ganeti/kvm-hypervisor/pid/a': '77\n',
    '/proc/77/cmdline': 'qemu-system-x86_64\0-name\0a,debug-threads=on\0',
    '/proc/77/stat': `77 (qemu (x)) S 1 77 77 0 -1 0 0 0 0 0 250 50 0 0 20 0 4 0 10000 900 1234 0\n`,
    '/proc/uptime': '90161.00 1.00\n',
  }
  const { instances } = await report([instance('a', 'up', 'kvm')], { files, backEnds: { kvm: running('a') } })
  expect(instances[0]).toMatchObject({ actualState: 'running', uptime: '1 day, 1:01:01' })
})

test('without an answer of confd there is no report, and the reason is told', async () => {
  await expect(instStatus.open(nodeSources({}), {}).collect()).rejects.toThrow(
    "Can't get instance info from ConfD: No answer from the Confd server",
  )
})
