// Finds the disk files on the nodes, missing files, and files without an owner.
import { basename } from 'node:path/posix'
import { instanceDisks } from '../../../config/lookup'
import { recordValues } from '../../../config/records'
import type { ConfigData, Disk, Instance, Node } from '../../../model/config'
import type { UnitContext } from '../../unit-context'
import { allSnapshots } from '../../../model/snapshots'
import type { GroupState, Listing, Scope } from './group-state'
import type { VerifyReport } from './report'
import { waysOfLost } from './ways-back'
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
  const requested = scope.nodes.filter(({ uuid }) => of(uuid).length > 0)
  const results = await ctx.nodes.many(requested, 'gantry_file_storage_list', ({ uuid }) => [
    of(uuid).map(({ directory }) => directory),
  ])
  return requested.flatMap((node) => {
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

interface MissingFile {
  readonly path: string
  readonly node: Node
  /** What to do. No command that it names deletes the only copy of anything. */
  readonly way: string
}

/** The instance's missing disk files, by disk uuid. */
export function missingFiles(state: GroupState, instance: Instance): Map<string, MissingFile> {
  const disks = instanceDisks(state.config, instance)
  const lost = disks.flatMap((disk, index) => {
    const path = fileOf(disk)
    const listing = state.listings.find(
      ({ node, template, directory }) =>
        template === disk.dev_type &&
        (isMirroredOutside(template) || node.uuid === instance.primary_node) &&
        path?.startsWith(`${directory}/`),
    )
    return path === undefined || listing === undefined || listing.files.has(path)
      ? []
      : [{ disk, index, path, node: listing.node }]
  })
  const unknown = lost.length === 0 ? [] : unknownFiles(state, state.config)
  const isNamed = unknown.some(({ path }) => lost.some((one) => basename(one.path) === basename(path)))
  const isSuspected = unknown.some(({ missing }) => missing !== undefined)
  const isEverything = lost.length === disks.length
  return new Map(
    lost.map(({ disk, index, path, node }) => {
      const way = waysOfLost(instance.name, index, { isEverything, isNamed, isSuspected })
      return [disk.uuid, { path, node, way }]
    }),
  )
}

/** `config` is read after the files were listed, so it contains everything made meanwhile. */
export function verifyOrphanFiles(report: VerifyReport, state: GroupState, config: ConfigData): void {
  const files = recordValues(config.disks).flatMap((disk) => fileOf(disk) ?? [])
  for (const { node, path, size_mib, missing } of unknownFiles(state, config)) {
    const namesake = files.find((file) => basename(file) === basename(path))
    const todo =
      missing === undefined
        ? namesake === undefined
          ? `if nobody needs it, remove it there with 'rm ${path}'`
          : `it has the name of the disk whose file is ${namesake}: keep it until you know that that file has the data`
        : `it may be the only copy of ${missing.path}, which is missing${missing.node.uuid === node.uuid ? '' : ` on node ${missing.node.name}`}: ` +
          'keep it until that is there again' +
          (missing.node.uuid === node.uuid
            ? `; if it has the data, 'mv ${path} ${missing.path}' gives it its name back`
            : '')
    const text = `file ${path} (${size_mib} MiB) is not a disk of any instance; ${todo}`
    report.error('ENODEORPHANLV', node.name, text, 'WARNING')
  }
}

interface UnknownFile {
  readonly node: Node
  readonly path: string
  readonly size_mib: number
  /** The file of a disk that it may be. */
  readonly missing: { readonly node: Node; readonly path: string } | undefined
}

function unknownFiles(state: GroupState, config: ConfigData): UnknownFile[] {
  const { listings, snapshots, nodes, busy } = state
  const master = nodes.some((node) => node.uuid === config.cluster.master_node)
  const onlyGroup = recordValues(config.nodegroups).length === 1
  // Shared files are checked once, by the job of the master's group.
  const checked = listings.filter(({ template }) => !isMirroredOutside(template) || master || onlyGroup)
  const known = checked.map((listing) => ({
    ...listing,
    owned: ownedFiles(config, snapshots, listing.template, listing.node),
  }))
  const missing = known.flatMap(({ template, node, files, owned }) =>
    [...owned].flatMap(([path, size_mib]) => (files.has(path) ? [] : [{ template, node, path, size_mib }])),
  )
  return known.flatMap(({ template, node, directory, files, owned }) =>
    [...files.values()].flatMap(([path, size_bytes]) => {
      const isBusy = path
        .slice(directory.length)
        .split('/')
        .some((part) => busy.has(part))
      if (owned.has(path) || isBusy) return []
      const size_mib = Math.ceil(size_bytes / (1 << 20))
      const isLike = (one: (typeof missing)[number]) =>
        one.template === template && (basename(one.path) === basename(path) || one.size_mib === size_mib)
      const here = missing.find((one) => one.node.uuid === node.uuid && isLike(one))
      return [{ node, path, size_mib, missing: here ?? missing.find(isLike) }]
    }),
  )
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
