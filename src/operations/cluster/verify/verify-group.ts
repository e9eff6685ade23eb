// OP_CLUSTER_VERIFY_GROUP: asks the nodes of one group for their state, and compares it with the configuration. Reads
// only.
import { instanceDisks, nodesOfGroup, secondaryNodes } from '../../../config/lookup'
import { recordValues } from '../../../config/records'
import { ECODE, OpPrereqError } from '../../../model/errors'
import type { ConfigData, Instance } from '../../../model/config'
import { HOOK_RESULT } from '../../../model/constants/hooks'
import { niceSortBy } from '../../../model/nice-sort'
import { OpClusterVerifyGroup } from '../../../opcodes/cluster'
import { findGroup } from '../../find'
import { logicalUnit, shared, type HookAnswer } from '../../logical-unit'
import type { UnitContext } from '../../unit-context'
import { verifyClientCertificates } from './certificates'
import { verifyDiagnoses } from './diagnoses'
import { drbdHelperOf, type Minors, minorsOf, verifyDrbd, verifyDrbdVersions } from './drbd'
import { verifyOrphanFiles } from './file-storage'
import { verifyFiles } from './files'
import { gather } from './gather'
import { type GroupState, runsSomewhere, type Scope } from './group-state'
import { otherNotes, verifyExclusionTags, verifyMemory } from './group-wide'
import { assessHvParams } from './hv-advice'
import { verifyOrphanVolumes } from './volumes'
import { verifyInstance, verifyRunning } from './instances'
import { nodeType, verifyNode, verifyNodeAnswers } from './nodes'
import { noteOldMachines } from './old-machines'
import { verifyPhysicalVolumes, verifyVolumeSizes } from './physical-volumes'
import { VerifyReport } from './report'
import { verifySystems } from './systems'
import { verifyUnfinished } from './unfinished'
import { isMirroredInside } from '../../../model/templates'

const EVERYTHING = { instances: 'all', disks: 'all', nodes: 'all', groups: 'all', networks: 'all' } as const

export const clusterVerifyGroup = logicalUnit(OpClusterVerifyGroup, {
  question: true,
  async locks(op, ctx) {
    const { object: group } = await findGroup(ctx, op.group_name)
    const config = await ctx.config.read(EVERYTHING)
    return {
      instance: shared(instancesOf(config, group.uuid).map((instance) => instance.name)),
      nodegroup: shared([group.uuid]),
    }
  },
  async declare(level, op, ctx) {
    if (level !== 'node') return undefined
    const { object: group } = await findGroup(ctx, op.group_name)
    const config = await ctx.config.read(EVERYTHING)
    const members = nodesOfGroup(config, group.uuid).map((node) => node.uuid)
    return shared([...new Set([...members, ...mirrorNodes(config, instancesOf(config, group.uuid))])])
  },
  hooks: {
    path: 'cluster-verify',
    type: 'CLUSTER',
    env: (_ctx, _op, { config, nodes }: Scope) => ({
      CLUSTER_TAGS: config.cluster.tags.join(' '),
      ...Object.fromEntries(nodes.map((node) => [`NODE_TAGS_${node.name}`, node.tags.join(' ')])),
    }),
    nodes: (_ctx, _op, { nodes }: Scope) => ({ pre: [], post: nodes.map((node) => node.uuid) }),
    judge(ctx, op, result, answers) {
      const report = new VerifyReport(ctx, op)
      verifyHooks(report, answers)
      return result === true && report.good
    },
  },
  check: (ctx, op) => scopeOf(ctx, op.group_name),
  async run(ctx, op, scope) {
    const report = new VerifyReport(ctx, op)
    report.say(`* Verifying group '${scope.group.name}'`)
    if (scope.nodes.length === 0) {
      report.say('* Empty node group, skipping verification')
      return true
    }
    const state = await gather(ctx, report, scope, op)
    report.say('* Verifying configuration file consistency')
    verifyClientCertificates(report, state)
    await verifyFiles(ctx, report, state)
    verifyNodes(report, state, await minorsIn(ctx, state))
    verifyDiagnoses(report, state)
    report.say('* Verifying instance status')
    for (const instance of scope.instances) {
      report.detail(`* Verifying instance ${instance.name}`)
      verifyInstance(report, state, instance)
    }
    verifyUnfinished(report, scope.config, lockedOf(ctx, scope.config, scope.group.uuid))
    report.say('* Verifying orphan volumes')
    verifyOrphanVolumes(report, state)
    verifyOrphanFiles(report, state, await ctx.env.wconfd.readConfig())
    if (!op.skip_checks.includes('nplusone_mem')) {
      report.say('* Verifying N+1 Memory redundancy')
      verifyMemory(report, state)
    }
    if (!op.skip_checks.includes('hvparam_assessment')) assessHvParams(report, scope.config)
    otherNotes(report, state)
    noteOldMachines(report, state)
    return report.good
  },
})

async function scopeOf(ctx: UnitContext, name: string): Promise<Scope> {
  const { object } = await findGroup(ctx, name)
  const config = await ctx.config.read(EVERYTHING)
  const group = config.nodegroups[object.uuid]
  if (group === undefined) throw new OpPrereqError(`Node group '${name}' not found`, ECODE.NOENT)
  // Instances that joined the group after the locks were requested are left for the next time.
  const instances = lockedOf(ctx, config, group.uuid).filter((instance) => !instance.forthcoming)
  const nodes = niceSortBy(nodesOfGroup(config, group.uuid), (node) => node.name)
  return { config, group, nodes, instances: niceSortBy(instances, (instance) => instance.name) }
}

const instancesOf = (config: ConfigData, group: string): Instance[] =>
  recordValues(config.instances).filter((instance) => config.nodes[instance.primary_node]?.group === group)

function lockedOf(ctx: UnitContext, config: ConfigData, group: string): Instance[] {
  const locked = ctx.locks.holds('instance')
  return instancesOf(config, group).filter(({ name }) => locked === 'all' || locked.includes(name))
}

const mirrorNodes = (config: ConfigData, instances: readonly Instance[]): string[] =>
  instances
    .filter((instance) => instanceDisks(config, instance).some((disk) => isMirroredInside(disk.dev_type)))
    .flatMap((instance) => secondaryNodes(config, instance))

/** Includes minors that jobs have reserved: their devices may already exist. */
async function minorsIn(ctx: UnitContext, state: GroupState): Promise<Minors> {
  const { config, busy } = state
  if (drbdHelperOf(config.cluster) === undefined) return new Map()
  const isUsed = ({ name, disks_active }: Instance) => !busy.has(name) && (disks_active || runsSomewhere(state, name))
  return minorsOf(config, isUsed, await ctx.env.wconfd.computeDRBDMap())
}

function verifyNodes(report: VerifyReport, state: GroupState, minors: Minors): void {
  report.say('* Verifying node status')
  const hosts = []
  for (const image of state.images) {
    const { node } = image
    if (node.offline) {
      report.detail(`* Skipping offline node ${node.name}`)
      continue
    }
    report.detail(`* Verifying node ${node.name} (${nodeType(node, state.config.cluster.master_node)})`)
    if (!verifyNodeAnswers(report, image)) continue
    verifyNode(report, state, image)
    if (!node.vm_capable) continue
    verifyPhysicalVolumes(report, state, image)
    verifyDrbd(report, state, image, minors)
    hosts.push(image)
    verifyRunning(report, state, image)
    verifyExclusionTags(report, state, image)
  }
  verifyVolumeSizes(report, state, hosts)
  verifyDrbdVersions(report, hosts)
  verifySystems(report, hosts)
}

function verifyHooks(report: VerifyReport, answers: readonly HookAnswer[]): void {
  report.say('* Hooks Results')
  for (const { node, result } of answers) {
    if (!result.ok) {
      const text = `Communication failure in hooks execution: ${result.error}`
      report.when(!result.offline, 'ENODEHOOKS', node.name, text)
      continue
    }
    for (const [script, code, output] of result.payload) {
      if (!report.when(code === HOOK_RESULT.failed, 'ENODEHOOKS', node.name, `Script ${script} failed, output:`))
        continue
      report.say(output.replace(/^/gm, '      '))
    }
  }
}
