// The enabled disk templates, and the directories for their disks.
import * as path from 'node:path'
import { fillIPolicy } from '../../../config/filled'
import { instanceOfDisk, nodesOfGroup, primaryInstances } from '../../../config/lookup'
import { recordValues } from '../../../config/records'
import type { Cluster, ConfigData, Disk, IPolicy, Node } from '../../../model/config'
import { isForbiddenForFiles } from '../../../model/file-storage'
import { insteadOfGroup, MIN_VG_SIZE_MIB } from '../../../model/constants/disks'
import { ECODE, OpPrereqError } from '../../../model/errors'
import { niceSort } from '../../../model/nice-sort'
import { checkTemplatesEnabled, newlyViolating, updatedIPolicy } from '../../group/ipolicy'
import type { UnitContext } from '../../unit-context'
import { type Fields, withoutUnset, invalid, type SetParams } from './fields'
import { diskText } from '../../instance/disks/disk-text'
import { readsInUserSpace } from '../../instance/parameters/access'
import { firstLack } from '../../missing-programs'
import {
  DISK_TEMPLATES,
  type DiskTemplate,
  factsOf,
  isOnLvm,
  isDrbd,
  neededFor,
  titleOfNeeded,
} from '../../../model/templates'

export function storageFields(config: ConfigData, op: SetParams): Fields {
  const { enabled_disk_templates: templates, vg_name, drbd_helper } = op
  if (templates?.length === 0) throw invalid('Enabled disk templates list must contain at least one member')
  checkTemplatesUnused(config, disabled(config, op))
  const ipolicy = newPolicy(config, op)
  return withoutUnset({
    enabled_disk_templates: templates,
    volume_group_name: vg_name === '' ? null : vg_name,
    drbd_usermode_helper: drbd_helper === '' ? null : drbd_helper,
    ...Object.fromEntries(
      directories(op).map(([template, name, directory]) => [name, storageDir(op, template, directory, config)]),
    ),
    ipolicy,
  })
}

/** For each template with a directory: its name among the parameters, and the wanted value. */
const directories = (op: SetParams) =>
  DISK_TEMPLATES.flatMap((template) => {
    const { directory } = factsOf(template)
    return directory === undefined ? [] : [[template, directory, op[directory]] as const]
  })

/** Warns about settings that are allowed but may surprise the user. */
export function checkStorage(ctx: UnitContext, config: ConfigData, op: SetParams): void {
  for (const [template, , directory] of directories(op))
    if (directory !== undefined && directory !== '' && !enabled(config, op).includes(template))
      ctx.log.warning(`Specified a ${template} storage directory, although ${template} storage is not enabled.`)
  // Ganeti takes them, too. Verify names them, and no node makes a disk there.
  for (const [template, , directory] of directories(op))
    if (directory !== undefined && isForbiddenForFiles(directory))
      ctx.log.warning(`The ${template} storage directory '${directory}' is where no node keeps disk files`)
  if (Object.keys(op.diskparams ?? {}).some(isDrbd)) for (const text of DRBD_PARAMS) ctx.log.warning(text)
  const policy = newPolicy(config, op)
  if (policy !== undefined) warnOfViolations(ctx, config, policy)
  const allowed = newlyAllowed(config, op)
  if (allowed.length > 0)
    ctx.log.info(
      `The instance policy allows ${allowed.join(', ')} from now on, too; --ipolicy-disk-templates says otherwise`,
    )
}

const DRBD_PARAMS = [
  'Changing DRBD parameters only affects devices created in the future, not existing ones',
  'You need to shutdown and start (not reboot!) existing instances to adopt the changes',
  'Alternatively you can swap the secondary node by running `gnt-instance replace-disks --new-secondary $instance`',
]

/** Tells the user which requested values are already set. */
export function sayWhatStays(ctx: UnitContext, config: ConfigData, op: SetParams): void {
  const { cluster } = config
  const same = (desired: string | undefined, current: string | undefined) =>
    desired !== undefined && desired === current
  const say = (text: string) => ctx.log.say(text)
  if (same(op.vg_name, cluster.volume_group_name ?? ''))
    say('Cluster LVM configuration already in desired state, not changing')
  if (same(op.file_storage_dir, cluster.file_storage_dir))
    say(`Global file storage dir already set to value '${cluster.file_storage_dir}'`)
  if (same(op.shared_file_storage_dir, cluster.shared_file_storage_dir))
    say(`Global shared file storage dir already set to value '${cluster.shared_file_storage_dir}'`)
  if (op.drbd_helper !== undefined && !enabled(config, op).some(isDrbd))
    say('Note that you specified a drbd user helper, but did not enable the drbd disk template.')
  if (same(op.drbd_helper, cluster.drbd_usermode_helper ?? ''))
    say('Cluster DRBD helper already in desired state, not changing')
}

export async function checkStorageOnNodes(ctx: UnitContext, config: ConfigData, op: SetParams): Promise<void> {
  const hosts = recordValues(config.nodes).filter((node) => node.vm_capable)
  const now = enabled(config, op)
  const added = now.filter((template) => !config.cluster.enabled_disk_templates.includes(template))
  await checkVolumeGroup(ctx, config, op, hosts, added)
  await checkDrbdHelper(ctx, config, op, hosts, added)
  await checkPrograms(ctx, config, op, hosts, added)
}

async function checkPrograms(
  ctx: UnitContext,
  { cluster }: ConfigData,
  op: SetParams,
  hosts: readonly Node[],
  added: readonly DiskTemplate[],
): Promise<void> {
  const needs = needsOf(cluster, op, added)
  const lack = await firstLack(ctx, cluster, hosts, [...new Set(needs.flatMap(({ programs }) => programs))])
  if (lack === undefined) return
  const { node, program, packageName } = lack
  const { template } = needs.find(({ programs }) => programs.includes(program)) ?? {}
  throw new OpPrereqError(
    `Disk template '${template}' cannot be enabled: node '${node.name}' has no ${titleOfNeeded(program)}; install the Debian package ${packageName} there`,
    ECODE.ENVIRON,
  )
}

/** The needs of newly enabled templates, and of templates that QEMU will reach by itself from now on. */
function needsOf(cluster: Cluster, op: SetParams, added: readonly DiskTemplate[]) {
  const isQemu = (op.enabled_hypervisors ?? cluster.enabled_hypervisors).some(readsInUserSpace)
  return (op.enabled_disk_templates ?? cluster.enabled_disk_templates).flatMap((template) => {
    const desired = op.diskparams?.[template]?.['access']
    if (!added.includes(template) && desired !== 'userspace') return []
    const access = isQemu ? (desired ?? cluster.diskparams[template]?.['access']) : undefined
    return [{ template, programs: neededFor(template, access) }]
  })
}

const enabled = (config: ConfigData, op: SetParams): readonly DiskTemplate[] =>
  op.enabled_disk_templates ?? config.cluster.enabled_disk_templates

const disabled = (config: ConfigData, op: SetParams): DiskTemplate[] =>
  config.cluster.enabled_disk_templates.filter((template) => !enabled(config, op).includes(template))

const usesLvm = (templates: readonly DiskTemplate[]): boolean => templates.some((one) => isOnLvm(one))

const hasDisks = (config: ConfigData, template: DiskTemplate): boolean =>
  recordValues(config.disks).some((disk) => disk.dev_type === template)

function checkTemplatesUnused(config: ConfigData, templates: readonly DiskTemplate[]): void {
  for (const template of templates) {
    const users = recordValues(config.disks)
      .filter((disk) => disk.dev_type === template)
      .map((disk) => `${diskText(disk)} (${place(config, disk)})`)
    const diskless = recordValues(config.instances).filter((instance) => instance.disks.length === 0)
    const found = factsOf(template).empty === true ? diskless.map((instance) => instance.name) : users
    const what = factsOf(template).empty === true ? 'instance' : 'disk'
    if (found.length > 0)
      throw new OpPrereqError(
        `Cannot disable disk template '${template}', because there is at least one ${what} using it:\n * ${found.join('\n * ')}`,
        ECODE.STATE,
      )
  }
}

function place(config: ConfigData, { uuid }: Disk): string {
  const instance = instanceOfDisk(config, uuid)
  return instance === undefined ? 'detached' : `on ${instance.name}`
}

function storageDir(
  op: SetParams,
  template: DiskTemplate,
  directory: string | undefined,
  config: ConfigData,
): string | undefined {
  if (directory === undefined) return undefined
  if (directory === '' && enabled(config, op).includes(template))
    throw invalid(
      `Unsetting the '${template}' storage directory while having '${template}' storage enabled is not permitted.`,
    )
  if (directory !== '' && (!directory.startsWith('/') || path.posix.normalize(directory) !== directory))
    throw invalid(`The ${template} storage directory '${directory}' is not an absolute normalized path`)
  return directory
}

/**
 * Undefined without a change. A template that the policy allows must not be disabled. A newly enabled one is also
 * allowed, unless the request lists the allowed ones.
 */
function newPolicy(config: ConfigData, op: SetParams): IPolicy | undefined {
  const { ipolicy } = config.cluster
  const allowed = newlyAllowed(config, op)
  if (op.ipolicy === undefined) {
    const lost = ipolicy['disk-templates'].filter((template) => disabled(config, op).includes(template))
    if (lost.length > 0) checkTemplatesEnabled({ ...ipolicy, 'disk-templates': lost }, enabled(config, op))
    return allowed.length === 0 ? undefined : withTemplates(ipolicy, allowed)
  }
  const updated = updatedIPolicy(ipolicy, op.ipolicy, 'cluster')
  const policy = withTemplates({ ...ipolicy, ...updated, std: { ...ipolicy.std, ...updated.std } }, allowed)
  checkTemplatesEnabled(policy, enabled(config, op))
  return policy
}

const withTemplates = (policy: IPolicy, templates: readonly DiskTemplate[]): IPolicy => ({
  ...policy,
  'disk-templates': [...policy['disk-templates'], ...templates],
})

/** Newly enabled templates, unless the policy already allows them or the request lists its templates. */
function newlyAllowed({ cluster }: ConfigData, op: SetParams): DiskTemplate[] {
  if (op.ipolicy !== undefined && 'disk-templates' in op.ipolicy) return []
  const before = [...cluster.enabled_disk_templates, ...cluster.ipolicy['disk-templates']]
  return (op.enabled_disk_templates ?? []).filter((template) => !before.includes(template))
}

function warnOfViolations(ctx: UnitContext, config: ConfigData, policy: IPolicy): void {
  const cluster = { ...config.cluster, ipolicy: policy }
  const names = recordValues(config.nodegroups).flatMap((group) => {
    const instances = nodesOfGroup(config, group.uuid).flatMap((node) => primaryInstances(config, node.uuid))
    return newlyViolating(config, instances, fillIPolicy(config.cluster, group), fillIPolicy(cluster, group))
  })
  if (names.length > 0)
    ctx.log.warning(`After the ipolicy change the following instances violate them: ${niceSort(names).join(', ')}`)
}

async function checkVolumeGroup(
  ctx: UnitContext,
  config: ConfigData,
  op: SetParams,
  hosts: readonly Node[],
  added: readonly DiskTemplate[],
): Promise<void> {
  const { volume_group_name: current } = config.cluster
  const lvm = usesLvm(enabled(config, op))
  if (op.vg_name === '' && lvm)
    throw invalid('Cannot unset volume group if lvm-based disk templates are or get enabled.')
  if (op.vg_name === undefined && current === undefined && lvm)
    throw invalid('Please specify a volume group when enabling lvm-based disk-templates.')
  if (op.vg_name === '' && DISK_TEMPLATES.some((template) => isOnLvm(template) && hasDisks(config, template)))
    throw invalid('Cannot disable lvm storage while lvm-based instances exist')
  const desired = op.vg_name ?? current
  if (desired === undefined || desired === '' || !((op.vg_name !== undefined && lvm) || usesLvm(added))) return
  const results = await ctx.nodes.many(hosts, 'vg_list', [])
  for (const node of hosts) {
    const result = results.get(node.uuid)
    if (result?.ok !== true) {
      ctx.log.warning(
        `Error while gathering data on node ${node.name} (ignoring node): ${result?.error ?? 'no answer'}`,
      )
      continue
    }
    const size = result.payload[desired]
    const problem =
      size === undefined
        ? `volume group '${desired}' missing: ${insteadOfGroup(Object.keys(result.payload))}`
        : size < MIN_VG_SIZE_MIB
          ? `volume group '${desired}' too small (${MIN_VG_SIZE_MIB} MiB required, ${Math.floor(size)} MiB found)`
          : undefined
    if (problem !== undefined) throw new OpPrereqError(`Error on node '${node.name}': ${problem}`, ECODE.ENVIRON)
  }
}

async function checkDrbdHelper(
  ctx: UnitContext,
  config: ConfigData,
  op: SetParams,
  hosts: readonly Node[],
  added: readonly DiskTemplate[],
): Promise<void> {
  const drbd = enabled(config, op).some(isDrbd)
  if (op.drbd_helper === '') {
    if (drbd) throw new OpPrereqError('Cannot disable drbd helper while DRBD is enabled.', ECODE.STATE)
    if (recordValues(config.disks).some(({ dev_type }) => isDrbd(dev_type)))
      throw invalid('Cannot disable drbd helper while drbd-based instances exist')
    return
  }
  if (!drbd || (op.drbd_helper === undefined && !added.some(isDrbd))) return
  const desired = op.drbd_helper ?? config.cluster.drbd_usermode_helper
  if (desired === undefined)
    throw new OpPrereqError('Cannot enable DRBD without a DRBD usermode helper set.', ECODE.STATE)
  const results = await ctx.nodes.many(hosts, 'drbd_helper', [])
  for (const node of hosts) {
    const result = results.get(node.uuid)
    if (node.offline) ctx.log.info(`Not checking drbd helper on offline node ${node.name}`)
    else if (result?.ok !== true)
      throw new OpPrereqError(
        `Error checking drbd helper on node '${node.name}': ${result?.error ?? 'no answer'}`,
        ECODE.ENVIRON,
      )
    else if (result.payload !== desired)
      throw new OpPrereqError(
        `Error on node '${node.name}': drbd helper is ${result.payload}, and the cluster's is ${desired}: load the module there with ` +
          `"modprobe drbd usermode_helper=${desired}", or name the same helper for all nodes with --drbd-usermode-helper`,
        ECODE.ENVIRON,
      )
  }
}
