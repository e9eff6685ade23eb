// Defaults of gnt-cluster init: what works on this machine, otherwise Ganeti's defaults.
import { hostAddress } from '../../lib/file/hosts-file'
import { DEFAULT_ENABLED_DISK_TEMPLATES, DEFAULT_VG } from '../../model/constants/disks'
import { DEFAULT_HYPERVISOR, HV_PARAMS } from '../../model/constants/hypervisors'
import { DEFAULT_BRIDGE } from '../../model/constants/params'
import { PATH } from '../../model/constants/paths'
import { neededFor } from '../../model/templates'
import type { NewNode } from '../command'
import type { OptionValues } from '../input/option-values'

export interface Defaults {
  readonly hypervisors: readonly string[]
  readonly templates: readonly string[]
  /** Only differences from Ganeti's defaults. */
  readonly hvparams: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** The device of the cluster's address. */
  readonly netdev: string
  /** The bridge of NICs that name no other. */
  readonly bridge: string
}

const QEMU = ['/usr/bin/kvm', '/usr/bin/qemu-system-x86_64', '/usr/libexec/qemu-kvm']

export async function defaultsFor(
  options: OptionValues,
  node: NewNode,
  note: (text: string) => void,
): Promise<Defaults> {
  const hypervisors = [QEMU.some((file) => node.files.existsSync(file)) ? 'kvm' : DEFAULT_HYPERVISOR]
  const templates = await templatesHere(options, node)
  if (options.list('enabled_hypervisors') === undefined) note(`Hypervisor: ${hypervisors.join(', ')}`)
  if (options.list('enabled_disk_templates') === undefined) note(`Disk templates: ${templates.join(', ')}`)
  const { netdev, bridge } = await networkHere(options, node)
  if (options.text('master_netdev') === undefined && netdev !== DEFAULT_BRIDGE) note(`Master network device: ${netdev}`)
  if (options.keyValues('nicparams')?.['link'] === undefined && bridge !== DEFAULT_BRIDGE)
    note(`Bridge of NICs: ${bridge}`)
  // A missing kernel would keep guests from starting; without one they boot from their disk.
  const hasKernel = node.files.existsSync(String(HV_PARAMS.kvm['kernel_path']?.default))
  return { hypervisors, templates, netdev, bridge, hvparams: hasKernel ? {} : { kvm: { kernel_path: '' } } }
}

/** Volumes if their group exists, otherwise files if the administrator allows them. */
async function templatesHere(options: OptionValues, node: NewNode): Promise<readonly string[]> {
  const desired = options.text('vg_name') ?? DEFAULT_VG
  if ((await node.volumeGroups().catch(() => [])).some(({ name }) => name === desired)) {
    const missing = await node.missingPrograms(neededFor('drbd', undefined))
    const isLoaded = () => node.requireDrbd().then(() => true, () => false) // prettier-ignore
    return Object.keys(missing).length === 0 && (await isLoaded()) ? ['drbd', 'plain'] : ['plain']
  }
  const isAllowed = (directory: string) =>
    node.storageDirectory(directory).then(
      () => true,
      () => false,
    )
  const files = [
    ...((await isAllowed(PATH.DEFAULT_FILE_STORAGE_DIR)) ? ['file'] : []),
    ...((await isAllowed(PATH.DEFAULT_SHARED_FILE_STORAGE_DIR)) ? ['sharedfile'] : []),
  ]
  return files.length > 0 ? files : DEFAULT_ENABLED_DISK_TEMPLATES
}

/**
 * Ganeti's bridge where it is here. Else the device with this node's own address, which guests join too if it is a bridge. Another bridge
 * may lead nowhere, as those of Docker and libvirt. Virtual nodes share the network of their machine.
 */
async function networkHere(options: OptionValues, node: NewNode): Promise<Pick<Defaults, 'netdev' | 'bridge'>> {
  const { paths, files } = node
  const place = (name: string) => `/sys/class/net/${name}`
  if (paths.root !== '' || files.existsSync(place(DEFAULT_BRIDGE)))
    return { netdev: DEFAULT_BRIDGE, bridge: DEFAULT_BRIDGE }
  const netdev = options.text('master_netdev') ?? (await ownDevice(node)) ?? DEFAULT_BRIDGE
  return { netdev, bridge: files.existsSync(`${place(netdev)}/bridge`) ? netdev : DEFAULT_BRIDGE }
}

/** The one with the address of this node's name, or else the only one that leads out. */
async function ownDevice({ paths, disk, networkInterfaces }: NewNode): Promise<string | undefined> {
  const hosts = (await disk.read(PATH.ETC_HOSTS))?.toString('utf8') ?? ''
  const own = [4, 6].flatMap((version) => hostAddress(hosts, paths.hostname, version === 4 ? 4 : 6) ?? [])
  const devices = Object.entries(networkInterfaces())
  const named = devices.find(([, entries]) => entries?.some(({ address }) => own.includes(address)))
  const outward = devices.filter(([, entries]) => entries?.some(({ internal }) => !internal))
  return named?.[0] ?? (outward.length === 1 ? outward[0]?.[0] : undefined)
}
