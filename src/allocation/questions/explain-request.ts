// Findings about each node for a request, before the request is answered.
import type { AllocOptions } from '../model/options'
import { instanceByName, groupByUuid } from './answer'
import type { ClusterModel } from '../model/cluster-model'
import { candidatesFor } from '../explain/explain'
import { candidatesInGroups, candidatesToLeave, groupOf } from '../explain/moves'
import type { Candidate, EvacMode, Request } from '../model/requests'
import { isMirroredInside } from '../../model/templates'

export interface Explained {
  readonly instance: string
  readonly candidates: readonly Candidate[]
}

/** Questions without an instance are not explained. */
export function explainRequest(model: ClusterModel, request: Request, options: AllocOptions): Explained[] {
  switch (request.type) {
    case 'allocate': {
      const restrictTo = options.restrictTo ?? request.restrictTo
      const { instance } = request
      return [{ instance: instance.data.name, candidates: candidatesFor(model, instance, { ...options, restrictTo }) }]
    }
    case 'capacity':
      return [{ instance: request.instance.data.name, candidates: candidatesFor(model, request.instance, options) }]
    case 'multi-allocate':
      return request.instances.map((one) => ({
        instance: one.data.name,
        candidates: candidatesFor(model, one, options),
      }))
    case 'relocate':
      return [leaving(model, request.name, 'relocate', options)]
    case 'node-evacuate':
      return request.instances.map((name) => leaving(model, name, request.mode, options))
    case 'change-group': {
      const targets = request.targetGroups.map((name) => groupByUuid(model, name))
      return request.instances.map((name) => {
        const at = instanceByName(model, name)
        const own = groupOf(model, at)
        const groups = targets.length > 0 ? targets : model.data.groups.flatMap((_, one) => (one === own ? [] : [one]))
        return { instance: name, candidates: candidatesInGroups(model, at, groups, options) }
      })
    }
    default:
      return []
  }
}

/** A relocation leaves the one node that the instance can leave. */
function leaving(model: ClusterModel, instance: string, mode: EvacMode | 'relocate', options: AllocOptions): Explained {
  const at = instanceByName(model, instance)
  const mirrored = isMirroredInside(model.instances[at]?.data.template)
  const half = mode === 'relocate' ? (mirrored ? 'secondary-only' : 'primary-only') : mode
  const candidates =
    half === 'all' && mirrored
      ? candidatesInGroups(model, at, [groupOf(model, at)], options)
      : candidatesToLeave(model, at, half === 'all' ? 'primary-only' : half, new Set(), options)
  return { instance, candidates }
}
