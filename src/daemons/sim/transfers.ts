// Exports and transfers of simulated nodes: no data flows, so a transfer has already ended when it is first polled.
import { createHash } from 'node:crypto'
import { fileTime } from '../../lib/clock'
import { formatIni } from '../../lib/file/ini'
import { createCertificate } from '../../lib/tls'
import { EXPORT_SECTION } from '../../model/constants/exports'
import { EXPORT_VERSION } from '../../model/constants/versions'
import { commonTemplate } from '../../model/templates'
import type { DiskDict, ImpExpStatus, InstanceDict } from '../../rpc/node/dicts'
import type { SimHandlers } from './sim-handlers'
import { nodeOf, type SimContext } from './world'

/** The port of a simulated import. */
const PORT = 11000

export const transfers = {
  export_list: (sim) => {
    const names = [...nodeOf(sim).exports.keys()].sort()
    // The first export makes the directory.
    if (names.length === 0) throw new Error('No exports directory')
    return names
  },
  export_info: (sim, directory) => {
    const text = nodeOf(sim).exports.get(directory.split('/').pop() ?? '')
    if (text === undefined) throw new Error("Export info file doesn't have the required fields")
    return text
  },
  export_remove: (sim, name) => {
    if (!nodeOf(sim).exports.delete(name)) throw new Error(`Error while removing the export: there is no '${name}'`)
    return null
  },
  finalize_export: (sim, instance, disks) => {
    nodeOf(sim).exports.set(instance.name, infoOf(sim, instance, disks))
    return null
  },
  import_start: (_sim, _options, _instance, component) => `import-${component}`,
  export_start: (_sim, _options, _host, _port, _instance, component) => `export-${component}`,
  impexp_status: (sim, names) => names.map((name) => ended(sim, name.startsWith('import-'))),
  impexp_abort: () => null,
  impexp_cleanup: () => null,
  x509_cert_create: async (sim, validity_s) => {
    const both = await createCertificate({ commonName: sim.node, validity_days: validity_s / 86400, clock: sim.clock })
    const pem = both.slice(both.indexOf('-----BEGIN CERTIFICATE-----'))
    const digest = createHash('sha256').update(pem).digest('hex')
    return [`x509-${fileTime(sim.clock)}-${digest.slice(0, 8)}`, pem]
  },
  x509_cert_remove: () => null,
} satisfies SimHandlers

function ended({ clock }: SimContext, listens: boolean): ImpExpStatus {
  const now_s = clock.now_ms() / 1000
  const common = { recent_output: [], connected: true, exit_status: 0, ctime: now_s, mtime: now_s }
  return listens ? { ...common, listen_port: PORT } : common
}

function infoOf({ clock }: SimContext, instance: InstanceDict, disks: readonly (DiskDict | false)[]): string {
  const sizes = disks.flatMap((disk, index) =>
    disk === false
      ? []
      : [
          [`disk${index}_size`, String(disk.size)] as const,
          [`disk${index}_dump`, disk.uuid] as const,
          ...Object.entries(disk.params ?? {}).map(
            ([name, value]) => [`disk${index}_param_${name}`, String(value)] as const,
          ),
        ],
  )
  return formatIni({
    [EXPORT_SECTION.export]: {
      version: String(EXPORT_VERSION),
      timestamp: String(Math.floor(clock.now_ms() / 1000)),
      source: instance.primary_node,
      os: instance.os,
      compression: 'none',
    },
    [EXPORT_SECTION.instance]: {
      name: instance.name,
      disk_template: commonTemplate(disks.flatMap((disk) => (disk === false ? [] : [disk.dev_type]))),
      hypervisor: instance.hypervisor,
      disk_count: String(disks.length),
      ...Object.fromEntries(sizes),
    },
  })
}
