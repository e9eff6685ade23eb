// Values of hypervisor parameters are accepted as Ganeti accepts them.
import type { Params } from '../../../src/model/config'
import { hvDefaults, HYPERVISORS } from '../../../src/model/constants/hypervisors'
import { checkHvParams } from '../../../src/model/hv-check'

test.each([...HYPERVISORS])('the defaults of %s are valid', (name) => {
  expect(() => checkHvParams(name, hvDefaults(name))).not.toThrow()
})

const kvm = hvDefaults('kvm')

test.each([
  [
    { boot_order: 'cdrom,disk' },
    "Parameter 'boot_order' fails syntax check: The value must be one of: cdrom, disk, floppy, network",
  ],
  [{ boot_order: '' }, "Parameter 'boot_order' is required but is currently not defined"],
  [{ kernel_path: 'vmlinuz' }, 'must be an absolute normalized path'],
  [{ kernel_path: '/boot/../vmlinuz' }, 'must be an absolute normalized path'],
  [{ cdrom_image_path: 'gopher://x' }, 'path or a URL'],
  [{ cpu_mask: '1-2:x' }, 'Multiple CPU mask definition is not well-formed'],
  [{ cpu_mask: '1:3-1' }, 'Invalid CPU mask: 1:3-1 leaves no CPU'],
  [{ cpu_mask: '0-9999999' }, 'Invalid CPU mask: it names more than 100000 CPUs in all its parts'],
  [{ virtio_net_queues: 33 }, 'invalid number of queues'],
  [{ migration_downtime: -1 }, 'cannot be negative'],
  [{ serial_speed: 9601 }, 'must be one of'],
  [{ boot_order: 'cdrom' }, 'Cannot boot from cdrom without an ISO path'],
  [{ kernel_path: '/boot/vmlinuz', root_path: '' }, 'Need a root partition for the instance, if a kernel is defined'],
  [{ disk_aio: 'native' }, "the only supported value for 'disk_cache' is 'none'."],
  [{ spice_streaming_video: 'all' }, 'SPICE: spice_streaming_video requires spice_bind to be set'],
  [{ spice_bind: '192.0.2.1', spice_ip_version: 6 }, 'SPICE: Got an IPv4 address (192.0.2.1), but the specified'],
  [{ vnc_x509_verify: true }, 'vnc_x509_path must be defined, if vnc_x509_verify is'],
  [{ security_model: 'user' }, 'A security domain (user to run kvm as) must be specified'],
  [{ security_domain: 'nobody' }, "Cannot have a security domain when the security model is 'none' or 'pool'"],
  [{ serial_speed: 0 }, 'A serial console needs a speed'],
  [{ colour: 'red' }, "Parameter 'colour' is not supported"],
])('%j is refused', (params, message) => {
  expect(() => checkHvParams('kvm', { ...kvm, ...params })).toThrow(message)
})

const accepted: Params[] = [
  { kernel_path: '/boot/vmlinuz-1.2' },
  { kernel_path: '' },
  { cdrom_image_path: 'https://example.com/x.iso' },
  { cpu_mask: '0-2,^1:all:5' },
  { migration_downtime: 0 },
  { kernel_path: '', root_path: null },
  { spice_ip_version: 0 },
  { spice_bind: '::1', spice_ip_version: 6, spice_use_tls: true },
  { spice_bind: 'eth0', spice_ip_version: 4 },
  { disk_aio: 'native', disk_cache: 'none' },
]
test.each(accepted)('%j is accepted', (params) => {
  expect(() => checkHvParams('kvm', { ...kvm, ...params })).not.toThrow()
})

test('a missing parameter is named', () => {
  const { acpi: _acpi, ...rest } = kvm
  expect(() => checkHvParams('kvm', rest)).toThrow("Parameter 'acpi' is missing")
})
