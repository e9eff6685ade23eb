// QEMU refuses a device with an option that it does not have. Each option that we write for one is in QEMU's own list.
import { execFileSync } from 'node:child_process'
import { HV_PARAMS } from '../../../../../src/model/constants/hypervisors'
import { qemuTest } from '../../../../support/needs'
import { command, plain, withParams } from '../../../../unit/node/hypervisor/kvm/command-of'

/** Every device has these, so QEMU does not list them. */
const OF_ALL = ['id', 'bus']
/** QEMU has no such disks, and they are refused. */
const REFUSED = ['mtd', 'pflash', 'sd']

const known = new Map<string, readonly string[]>()

function optionsOf(driver: string): readonly string[] {
  const last = known.get(driver)
  if (last !== undefined) return last
  const help = execFileSync('/usr/bin/qemu-system-x86_64', ['-device', `${driver},help`], { encoding: 'utf8' })
  const options = Array.from(help.matchAll(/^\s*([\w.-]+)=</gm), ([, name = '']) => name)
  known.set(driver, options)
  return options
}

const variants = (name: string, more: Record<string, unknown> = {}): Record<string, unknown>[] =>
  (HV_PARAMS.kvm[name]?.allowed ?? []).map((value) => ({ ...more, [name]: value }))

const VARIANTS = [
  ...variants('disk_type').filter(({ disk_type }) => !REFUSED.includes(String(disk_type))),
  ...variants('nic_type'),
  ...variants('nic_type', { boot_order: 'network' }),
  ...variants('scsi_controller_type', { disk_type: 'scsi-hd' }),
  ...['ide', 'paravirtual', 'scsi'].map((cdrom_disk_type) => ({
    ...{ cdrom_disk_type, cdrom_image_path: '/srv/a.iso', boot_order: 'cdrom' },
  })),
  { machine_version: 'q35' },
  { use_guest_agent: true },
  { spice_bind: '127.0.0.1' },
]

qemuTest('no device gets an option that its list lacks', () => {
  const wrong = VARIANTS.flatMap((params) => {
    const words = command(withParams(params, { disks_info: [plain] }))
    const devices = words.filter((_, index) => words[index - 1] === '-device')
    return devices.flatMap((device) => {
      const [driver = '', ...options] = device.split(',')
      const names = options.map((option) => option.replace(/=.*$/, ''))
      const unknown = names.filter((name) => !OF_ALL.includes(name) && !optionsOf(driver).includes(name))
      return unknown.map((name) => `${driver}.${name}`)
    })
  })
  expect([...new Set(wrong)]).toEqual([])
  // QEMU did tell its lists.
  expect(Math.min(...Array.from(known.values(), (options) => options.length))).toBeGreaterThan(0)
  expect(known.size).toBeGreaterThan(15)
})
