// Advice about hypervisor parameters: which values cause it, and in which order.
import { adviceOn } from '../../../src/model/hv-advice'
import { hvDefaults } from '../../../src/model/constants/hypervisors'

/** Parameters that nothing is to be said about. */
const GOOD = { cpu_type: 'Nehalem', migration_bandwidth: 1000, machine_version: 'pc-q35-7.2', vhost_net: true }
const advice = (params: Record<string, string | number | boolean>) =>
  adviceOn('kvm', { ...hvDefaults('kvm'), ...GOOD, ...params })

test('the defaults of KVM cause three lines, in the order of Ganeti', () => {
  expect(adviceOn('kvm', { ...hvDefaults('kvm'), vhost_net: true })).toEqual([
    expect.stringMatching(/^cpu_type is currently unset and defaults to 'qemu64'/),
    expect.stringMatching(/^migration_bandwidth is still set to its default value\(32 MiB\/s\)/),
    expect.stringMatching(/^machine_version is not explicitly configured/),
  ])
})

test('good parameters, and other hypervisors, cause none', () => {
  expect(advice({})).toEqual([])
  expect(adviceOn('fake', hvDefaults('fake'))).toEqual([])
})

test.each<[string, Record<string, string | boolean>]>([
  ["cpu_type is currently set to 'qemu64'", { cpu_type: 'qemu64' }],
  ["cpu_type is currently set to 'kvm32'", { cpu_type: 'kvm32' }],
  ["cpu_type is currently set to 'host'", { cpu_type: 'host' }],
  ['vhost_net should be enabled', { vhost_net: false }],
  ["disk_type is set to 'ide' instead of 'paravirtual'", { disk_type: 'ide' }],
  ["nic_type is set to 'e1000' instead of 'paravirtual'", { nic_type: 'e1000' }],
  ['VNC is configured but without TLS', { vnc_bind_address: '0.0.0.0' }],
  ['Spice is configured but without TLS', { spice_bind: 'eth0' }],
  ["machine_version is set to the 'pc' type", { machine_version: 'pc' }],
  ["machine_version is set to the 'q35' type", { machine_version: 'q35,kernel-irqchip=off' }],
  ['machine_version is set to microvm which is unsupported', { machine_version: 'microvm' }],
])('%s', (text, params) => {
  expect(advice(params)).toEqual([expect.stringContaining(text)])
})

test('a screen that nobody reaches over the network, or that is encrypted, causes none', () => {
  for (const bind of ['127.0.0.1', '127.0.1.1', '::1', '/run/screens'])
    expect([bind, advice({ vnc_bind_address: bind, spice_bind: bind })]).toEqual([bind, []])
  expect(advice({ vnc_bind_address: '0.0.0.0', vnc_tls: true, spice_bind: '::', spice_use_tls: true })).toEqual([])
})
