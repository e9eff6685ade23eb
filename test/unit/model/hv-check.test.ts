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
  [{ cpu_mask: '1-2:x' }, 'lists of CPUs'],
  [{ virtio_net_queues: 33 }, 'between 1 and 32'],
  [{ migration_downtime: -1 }, 'at least 0'],
  [{ serial_speed: 9601 }, 'must be one of'],
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
  { root_path: null },
  { spice_ip_version: 0 },
]
test.each(accepted)('%j is accepted', (params) => {
  expect(() => checkHvParams('kvm', { ...kvm, ...params })).not.toThrow()
})

test('a missing parameter is named', () => {
  const { acpi: _acpi, ...rest } = kvm
  expect(() => checkHvParams('kvm', rest)).toThrow("Parameter 'acpi' is missing")
})
