// Defaults of gnt-cluster init: what works on this machine, otherwise Ganeti's defaults.
import { DEFAULT_ENABLED_DISK_TEMPLATES, DEFAULT_VG } from '../../model/constants/disks'
import { DEFAULT_HYPERVISOR, HV_PARAMS } from '../../model/constants/hypervisors'
import { PATH } from '../../model/constants/paths'
import type { NewNode } from '../command'
import type { OptionValues } from '../input/option-values'

export interface Proposals {
  readonly hypervisors: readonly string[]
  readonly templates: readonly string[]
  /** Only differences from Ganeti's defaults. */
  readonly hvparams: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

const QEMU = ['/usr/bin/kvm', '/usr/bin/qemu-system-x86_64', '/usr/libexec/qemu-kvm']

export async function proposals(
  options: OptionValues,
  node: NewNode,
  note: (text: string) => void,
): Promise<Proposals> {
  const hypervisors = [QEMU.some((file) => node.files.existsSync(file)) ? 'kvm' : DEFAULT_HYPERVISOR]
  const templates = await templatesHere(options, node)
  if (options.list('enabled_hypervisors') === undefined) note(`Hypervisor: ${hypervisors.join(', ')}`)
  if (options.list('enabled_disk_templates') === undefined) note(`Disk templates: ${templates.join(', ')}`)
  // A missing kernel would keep guests from starting; without one they boot from their disk.
  const hasKernel = node.files.existsSync(String(HV_PARAMS.kvm['kernel_path']?.default))
  return { hypervisors, templates, hvparams: hasKernel ? {} : { kvm: { kernel_path: '' } } }
}

/** Volumes if their group exists, otherwise files if the administrator allows them. */
async function templatesHere(options: OptionValues, node: NewNode): Promise<readonly string[]> {
  const wanted = options.text('vg_name') ?? DEFAULT_VG
  if ((await node.volumeGroups().catch(() => [])).some(({ name }) => name === wanted)) {
    const missing = await node.missingPrograms(['drbdsetup'])
    return Object.keys(missing).length === 0 ? ['drbd', 'plain'] : ['plain']
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
