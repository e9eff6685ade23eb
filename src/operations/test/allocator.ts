// OP_TEST_ALLOCATOR: shows an allocator's input, or its answer.
import { diskSpace, templateOf } from '../../allocation/sources/from-config'
import { diskTemplateOf, instanceDisks, secondaryNodes } from '../../config/lookup'
import type { ConfigData, Instance } from '../../model/config'
import { DISK_ACCESS_MODES } from '../../model/constants/disks'
import { ECODE, OpPrereqError } from '../../model/errors'
import { OpTestAllocator } from '../../opcodes/test'
import { findGroup, findInstance, pick } from '../find'
import { allocatorInput, allocatorOutput, type AllocatorRequest } from '../iallocator/ask'
import { logicalUnit, type Op } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { type DiskTemplate, isMirroredInside, NO_DISKS } from '../../model/templates'

type TestAllocator = Op<typeof OpTestAllocator>

export const testAllocator = logicalUnit(OpTestAllocator, {
  bigLock: true,
  async check(ctx, op) {
    if (op.direction === 'out' && op.iallocator === undefined)
      throw new OpPrereqError('Missing allocator name', ECODE.INVAL)
    return requestOf(ctx, op)
  },
  async run(ctx, op, request) {
    const { config, text } = await allocatorInput(ctx, {
      request,
      ...(op.disk_template && { templates: [op.disk_template] }),
    })
    return op.direction === 'in' ? text : allocatorOutput(ctx, config, op.iallocator ?? '', { text })
  },
})

async function requestOf(ctx: UnitContext, op: TestAllocator): Promise<AllocatorRequest> {
  const config = await ctx.config.read({ instances: 'all' })
  switch (op.mode) {
    case 'allocate':
      return { type: 'allocate', ...newInstance(config, op, op.name) }
    // These two are ours: at most `count` moves, or all places for an instance.
    case 'balance':
      return { type: 'balance', max_moves: op.count, ...(op.group_name !== undefined && { group_name: op.group_name }) }
    case 'capacity':
      return { type: 'capacity', ...newInstance(config, op, op.name) }
    case 'multi-allocate': {
      const names = Array.from({ length: op.count }, (_, index) => `${op.name}${index}`)
      return { type: 'multi-allocate', instances: names.map((name) => newInstance(config, op, name)) }
    }
    case 'relocate':
      return relocation(config, (await findInstance(ctx, op.name)).object)
    case 'node-evacuate':
      return { type: 'node-evacuate', instances: await namedInstances(ctx, op), evac_mode: op.evac_mode ?? null }
    case 'change-group':
      return { type: 'change-group', instances: await namedInstances(ctx, op), target_groups: await groups(ctx, op) }
    default:
      throw new OpPrereqError(`Invalid test allocator mode '${op.mode}'`, ECODE.INVAL)
  }
}

function newInstance(config: ConfigData, op: TestAllocator, name: string) {
  const known = pick(config.instances, name)
  if (known !== undefined) throw new OpPrereqError(`Instance '${known.name}' already in the cluster`, ECODE.EXISTS)
  const template = op.disk_template ?? config.cluster.enabled_disk_templates[0] ?? NO_DISKS
  const disks = (op.disks ?? []).map((disk) => ({ ...checkedDisk(disk), dev_type: template }))
  return {
    ...{ name, disk_template: template, group_name: op.group_name ?? null, tags: op.tags, os: op.os ?? '' },
    ...{ vcpus: op.vcpus ?? 1, memory: op.memory ?? 0, spindle_use: op.spindle_use },
    ...{ disks, disk_space_total: diskSpace(templateOf(template), disks), nics: op.nics ?? [] },
    required_nodes: nodesOf(template),
    hypervisor: op.hypervisor ?? config.cluster.enabled_hypervisors[0],
  }
}

const nodesOf = (template: DiskTemplate): number => (isMirroredInside(template) ? 2 : 1)

function checkedDisk(disk: unknown): { size: number; mode: string } {
  if (typeof disk === 'object' && disk !== null && 'size' in disk && 'mode' in disk) {
    const { size, mode } = disk
    const known = DISK_ACCESS_MODES.find((one) => one === mode)
    if (typeof size === 'number' && Number.isInteger(size) && known !== undefined) return { size, mode: known }
  }
  throw new OpPrereqError("Invalid contents of the 'disks' parameter", ECODE.INVAL)
}

function relocation(config: ConfigData, instance: Instance): AllocatorRequest {
  const from = secondaryNodes(config, instance).flatMap((uuid) => config.nodes[uuid]?.name ?? [])
  const template = templateOf(diskTemplateOf(config, instance))
  const disk_space_total = diskSpace(template, instanceDisks(config, instance))
  return { type: 'relocate', name: instance.name, disk_space_total, required_nodes: 1, relocate_from: from }
}

async function namedInstances(ctx: UnitContext, op: TestAllocator): Promise<string[]> {
  if (op.instances === undefined || op.instances.length === 0) throw new OpPrereqError('Missing instances', ECODE.INVAL)
  const names: string[] = []
  for (const name of op.instances) names.push((await findInstance(ctx, name)).object.name)
  return names
}

async function groups(ctx: UnitContext, op: TestAllocator): Promise<string[]> {
  const uuids: string[] = []
  for (const name of op.target_groups ?? []) uuids.push((await findGroup(ctx, name)).object.uuid)
  return uuids
}
