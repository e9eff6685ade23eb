// Simulates the death of nodes and the arrival of instances: which come back where, which cannot, and why.
import type { LostInstance, PlacedInstance, RefusedInstances, RestoredInstance, WhatIf } from '../../model/allocation'
import type { AllocOptions } from '../model/options'
import { allocate } from './answer'
import { names } from './balance-plan'
import { groupNodes } from '../places/choose-group'
import { type ClusterData, NO_NODE } from '../model/cluster-data'
import { type ClusterModel, buildModel } from '../model/cluster-model'
import { evacuate } from '../evacuation/evacuate'
import { candidatesFor, whyOffline } from '../explain/explain'
import { phraseOf, toCandidateNode, whyNone } from '../model/explain-text'
import type { Candidate, Failed, NewInstance } from '../model/requests'
import { Score } from '../model/score'
import { isMirroredInside, isMirroredOutside, IMMOVABLE } from '../../model/templates'

export interface WhatIfQuestion {
  readonly kind: 'what-if'
  /** Names of the nodes that die. */
  readonly dead: readonly string[]
  readonly arriving: readonly { readonly instance: NewInstance; readonly count: number }[]
  /** Names of the nodes that new instances may use; null for all. */
  readonly nodes: readonly string[] | null
  readonly explain: boolean
}

export function whatIf(data: ClusterData, question: WhatIfQuestion, options: AllocOptions): WhatIf {
  const dead = new Set(question.dead)
  const before = buildModel(data)
  const nodes = data.nodes.map((node) => (dead.has(node.name) ? { ...node, offline: true, unusable: 'offline' } : node))
  const model = buildModel({ ...data, nodes })
  const scores = data.groups.map(({ name: group }, at) => {
    const own = groupNodes(model, at)
    return { group, score_before: new Score(before, own).value(), after: () => new Score(model, own).value() }
  })
  const down = alreadyDown(model, dead)
  const { primaries, secondaries, rest } = restore(model, dead, options, question)
  const arrived = arrive(model, question, options)
  const all = new Score(
    model,
    model.nodes.map((_, at) => at),
  )
  return {
    dead: data.nodes.flatMap(({ name }) => (dead.has(name) ? [name] : [])),
    ...{ restored: primaries, lost: rest.lost, mirrored: secondaries, unmirrored: rest.unmirrored },
    already_down: down,
    ...arrived,
    without_reserve: names(model, ...all.failing()),
    groups: scores.map(({ group, score_before, after }) => ({ group, score_before, score_after: after() })),
  }
}

/** Instances whose node was out of order before anything died. Nothing moves them, so they do not run afterwards either. */
function alreadyDown(model: ClusterModel, dead: ReadonlySet<string>): LostInstance[] {
  return model.instances.flatMap(({ data }, at) => {
    const node = model.nodes[model.primary[at] ?? NO_NODE]
    if (node === undefined || !node.offline || dead.has(node.data.name)) return []
    const why = whyOffline(node)
    if (why !== 'offline' && why !== 'no answer') return []
    const nodes = names(model, model.primary[at] ?? NO_NODE, model.secondary[at] ?? NO_NODE)
    return [{ instance: data.name, nodes, reason: `its node, ${node.data.name}, ${phraseOf(why)}`, candidates: null }]
  })
}

interface Restored {
  readonly primaries: RestoredInstance[]
  readonly secondaries: RestoredInstance[]
  readonly rest: { readonly lost: LostInstance[]; readonly unmirrored: LostInstance[] }
}

/** As an operator would: first restarts everything, then recreates mirrors. */
function restore(
  model: ClusterModel,
  dead: ReadonlySet<string>,
  options: AllocOptions,
  { explain, nodes }: WhatIfQuestion,
): Restored {
  const isDead = (node: number | undefined) => dead.has(model.data.nodes[node ?? NO_NODE]?.name ?? '')
  const nodesOf = (at: number) => names(model, model.primary[at] ?? NO_NODE, model.secondary[at] ?? NO_NODE)
  const before = model.instances.map((_, at) => nodesOf(at))
  const at = new Map(model.instances.map(({ data }, one) => [data.name, one]))
  const every = model.instances.map((_, one) => one)
  const gone = every.filter((one) => isDead(model.primary[one]))
  const bound = new Map(gone.flatMap((one) => reasonsToStay(model, one, isDead)))
  const moving = gone.filter((one) => !bound.has(one))
  const explained = { ...options, explain: true }
  const first = evacuate(model, moving, 'primary-only', explained)
  const between = model.instances.map((_, one) => nodesOf(one))
  const failed = new Map(first.failed.map((one) => [at.get(one.instance) ?? -1, one]))
  const halves = every.filter(
    (one) => isDead(model.secondary[one]) && !isDead(model.primary[one]) && isMirrored(model, one),
  )
  const second = evacuate(model, halves, 'secondary-only', explained)
  const after = model.instances.map((_, one) => nodesOf(one))
  const moved = (all: readonly { instance: string }[], from: typeof before, to: typeof before): RestoredInstance[] =>
    all.map(({ instance }) => {
      const one = at.get(instance) ?? -1
      return { instance, from: from[one] ?? [], to: (to[one] ?? []).filter((node) => !dead.has(node)) }
    })
  const lost = (one: number, reason: string, candidates?: readonly Candidate[]): LostInstance => ({
    ...{ instance: model.instances[one]?.data.name ?? '', nodes: before[one] ?? [], reason },
    candidates: explain && candidates !== undefined ? candidates.map(toCandidateNode) : null,
  })
  const refused = (one: number, { why, candidates = [] }: Pick<Failed, 'why' | 'candidates'>) => {
    // Omits the instance's own nodes, and nodes that the caller may not see.
    const others = candidates.filter(({ node, reject }) => reject !== 'own node' && (nodes?.includes(node) ?? true))
    return lost(one, (candidates.length === 0 ? undefined : whyNone(others)) ?? why, others)
  }
  return {
    primaries: moved(first.moved, before, between),
    secondaries: moved(second.moved, between, after),
    rest: {
      lost: gone.flatMap((one) => {
        const reason = bound.get(one)
        if (reason !== undefined) return [lost(one, reason)]
        const why = failed.get(one)
        return why === undefined ? [] : [refused(one, why)]
      }),
      unmirrored: second.failed.map((one) => refused(at.get(one.instance) ?? -1, one)),
    },
  }
}

const isMirrored = (model: ClusterModel, instance: number): boolean =>
  isMirroredInside(model.instances[instance]?.data.template)

function reasonsToStay(
  model: ClusterModel,
  instance: number,
  isDead: (node: number | undefined) => boolean,
): [number, string][] {
  const template = model.instances[instance]?.data.template ?? IMMOVABLE
  if (isMirroredInside(template)) {
    const secondary = model.secondary[instance] ?? NO_NODE
    const facts = model.nodes[secondary]
    if (facts === undefined || isDead(secondary)) return [[instance, 'both of its nodes are down']]
    return facts.offline ? [[instance, `its other node, ${facts.data.name}, ${phraseOf(whyOffline(facts))}`]] : []
  }
  return isMirroredOutside(template) ? [] : [[instance, `its disks (${template}) are only on the node that is down`]]
}

interface Arrived {
  readonly placed: PlacedInstance[]
  readonly refused: RefusedInstances[]
}

function arrive(model: ClusterModel, { arriving, nodes, explain }: WhatIfQuestion, options: AllocOptions): Arrived {
  const [placed, refused]: [PlacedInstance[], RefusedInstances[]] = [[], []]
  // Lost nodes cannot have a reserve.
  const limits = { ...options, acceptExisting: true, restrictTo: nodes ?? undefined }
  arriving.forEach(({ instance, count }, entry) => {
    for (let done = 0; done < count; done++) {
      const name = `${instance.data.name}-${entry}-${done}`
      const desired = { ...instance, data: { ...instance.data, name } }
      const { nodes: chosen, info } = allocate(model, desired, limits)
      if (chosen !== undefined) placed.push({ entry, nodes: [...chosen] })
      else {
        const candidates = candidatesFor(model, desired, limits).filter(({ node }) => nodes?.includes(node) ?? true)
        // An identical instance finds no room either.
        const displayed = explain ? candidates.map(toCandidateNode) : null
        refused.push({ entry, count: count - done, reason: whyNone(candidates) ?? info, candidates: displayed })
        break
      }
    }
  })
  return { placed, refused }
}
