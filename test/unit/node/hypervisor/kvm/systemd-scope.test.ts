// QEMU runs in a scope of systemd, so that it outlives the daemon that started it.
import { pathsOf } from '../../../../../src/lib/paths'
import type { HypervisorContext } from '../../../../../src/node/hypervisor/hypervisor'
import { systemdScope } from '../../../../../src/node/hypervisor/kvm/systemd-scope'

const node = (root: string, systemd: boolean) =>
  ({ files: { existsSync: () => systemd }, paths: pathsOf(root, 'node1'), random: { hex: () => 'ab12' } }) as unknown as HypervisorContext // prettier-ignore

const SCOPE = [
  ...['systemd-run', '--scope', '--quiet', '--collect', '--slice=ganeti-guests.slice'],
  ...['--unit=ganeti-guest-vm1-ab12.scope', '--description=Ganeti instance vm1'],
]

beforeEach(() => {
  jest.spyOn(process, 'geteuid').mockReturnValue(0)
})
afterEach(() => {
  jest.restoreAllMocks()
  delete process.env['GUEST_PROPERTIES']
})

test('a guest has a scope of its own where systemd runs the machine, and the daemon may make one', () => {
  expect(systemdScope(node('', true), 'vm1')).toEqual([...SCOPE, '--'])
  expect(systemdScope(node('', false), 'vm1')).toEqual([])
  expect(systemdScope(node('/tmp/node1', true), 'vm1')).toEqual([])
  jest.spyOn(process, 'geteuid').mockReturnValue(1000)
  expect(systemdScope(node('', true), 'vm1')).toEqual([])
})

test('it has what the administrator wants guests to have', () => {
  process.env['GUEST_PROPERTIES'] = ' CPUWeight=50  MemoryHigh=infinity '
  expect(systemdScope(node('', true), 'vm1')).toEqual([
    ...SCOPE,
    '--property=CPUWeight=50',
    '--property=MemoryHigh=infinity',
    '--',
  ])
})
