// Finds the disk files on the nodes, missing files, and files without an owner.
import { basename } from 'node:path/posix'
import { instanceDisks } from '../../../config/lookup'
import { recordValues } from '../../../config/records'
import type { ConfigData, Disk, Instance, Node } from '../../../model/config'
import type { UnitContext } from '../../unit-context'
import { allSnapshots } from '../../../model/snapshots'
import type { GroupState, Listing, Scope } from './group-state'
import type { VerifyReport } from './report'
import {
  type DiskTemplate,
  DISK_TEMPLATES,
  directoryOf,
  isInFileSystem,
  isMirroredOutside,
} from '../../../model/templates'

interface Directory {
  readonly template: Listing['template']
  readonly directory: string
  readonly on: readonly Node[]
}

export async function askFileStorage(ctx: UnitContext, report: VerifyReport, scope: Scope): Promise<Listing[]> {
  const directories = directoriesOf(scope)
  const of = (uuid: string) => directories.filter(({ on }) => on.some((node) => node.uuid === uuid))
  const asked = scope.nodes.filter(({ uuid }) => of(uuid).length > 0)
  const results = await ctx.nodes.many(asked, 'gantry_file_storage_list', ({ uuid }) => [
    of(uuid).map(({ directory }) => directory),
  ])
  return asked.flatMap((node) => {
    const result = results.get(node.uuid)
    if (result?.ok !== true) {
      const why = result?.error ?? 'no answer'
      report.error('ENODERPC', node.name, `its files of disks could not be listed: ${why}`, 'WARNING')
      return []
    }
    return of(node.uuid).map(({ template, directory }, index): Listing => {
      const files = result.payload[index] ?? []
      return { node, template, directory, files: new Map(files.map((file) => [file[0], file])) }
    })
  })
}

/** Shared directories look the same everywhere, so only one node of the group is asked. */
function directoriesOf(scope: Scope): Directory[] {
  const { cluster } = scope.config
  const hosts = scope.nodes.filter((node) => node.vm_capable && !node.offline)
  const one = hosts.find((node) => node.uuid === cluster.master_node) ?? hosts[0]
  const anyOne = one === undefined ? [] : [one]
  return DISK_TEMPLATES.filter((template) => isInFileSystem(template) && inUse(scope, template)).flatMap((template) => {
    const directory = directoryOf(cluster, template) ?? ''
    return directory === '' ? [] : { template, directory, on: isMirroredOutside(template) ? anyOne : hosts }
  })
}

const inUse = ({ config, instances }: Scope, template: DiskTemplate): boolean =>
  config.cluster.enabled_disk_templates.includes(template) ||
  instances.some((instance) => instanceDisks(config, instance).some((disk) => disk.dev_type === template))

/** The instance's missing disk files, by disk uuid. */
export function missingFiles(state: GroupState, instance: Instance): Map<string, { path: string; node: Node }> {
  const found = new Map<string, { path: string; node: Node }>()
  for (const disk of instanceDisks(state.config, instance)) {
    const path = fileOf(disk)
    const listing = state.listings.find(
      ({ node, template, directory }) =>
        template === disk.dev_type &&
        (isMirroredOutside(template) || node.uuid === instance.primary_node) &&
        path?.startsWith(`${directory}/`),
    )
    if (path !== undefined && listing !== undefined && !listing.files.has(path))
      found.set(disk.uuid, { path, node: listing.node })
  }
  return found
}

/** `config` is read after the files were listed, so it contains everything made meanwhile. */
export function verifyOrphanFiles(report: VerifyReport, state: GroupState, config: ConfigData): void {
  const master = state.nodes.some((node) => node.uuid === config.cluster.master_node)
  const onlyGroup = recordValues(config.nodegroups).length === 1
  for (const { node, template, directory, files } of state.listings) {
    // Shared files are checked once, by the job of the master's group.
    if (isMirroredOutside(template) && !master && !onlyGroup) continue
    const owned = ownedFiles(config, state.snapshots, template, node)
    for (const [path, size_bytes] of files.values()) {
      if (
        owned.has(path) ||
        path
          .slice(directory.length)
          .split('/')
          .some((part) => state.busy.has(part))
      )
        continue
      const size_mib = Math.ceil(size_bytes / (1 << 20))
      const missing = [...owned].find(
        ([wanted, disk_mib]) => !files.has(wanted) && (basename(wanted) === basename(path) || disk_mib === size_mib),
      )
      const todo =
        missing === undefined
          ? `if nobody needs it, remove it there with 'rm ${path}'`
          : `it may be the only copy of ${missing[0]}, which is missing: keep it until that is there again; if it has the data, 'mv ${path} ${missing[0]}' gives it its name back`
      const text = `file ${path} (${size_mib} MiB) is not a disk of any instance; ${todo}`
      report.error('ENODEORPHANLV', node.name, text, 'WARNING')
    }
  }
}

function ownedFiles(
  config: ConfigData,
  snapshots: GroupState['snapshots'],
  template: DiskTemplate,
  node: Node,
): Map<string, number> {
  const owners = recordValues(config.instances).filter(
    (instance) => isMirroredOutside(template) || instance.primary_node === node.uuid,
  )
  const attached = owners.flatMap((instance) => instanceDisks(config, instance))
  const detached = recordValues(config.disks).filter(
    (disk) => isMirroredOutside(disk.dev_type) || disk.nodes.includes(node.uuid),
  )
  const noted = allSnapshots(snapshots).filter((one) => isMirroredOutside(template) || one.node === node.uuid)
  return new Map(
    [...attached, ...detached, ...noted].flatMap((disk): [string, number][] => {
      const file = disk.dev_type === template ? fileOf(disk) : undefined
      return file === undefined ? [] : [[file, disk.size]]
    }),
  )
}

export function fileOf(disk: Pick<Disk, 'dev_type' | 'logical_id'>): string | undefined {
  const path = disk.logical_id[1]
  return isInFileSystem(disk.dev_type) && typeof path === 'string' ? path : undefined
}
