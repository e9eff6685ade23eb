// The opcodes of a move. Ganeti's programs write every parameter, so these do too.
import { isRunning } from '../model/cluster-data'
import type { ClusterModel } from '../model/cluster-model'
import type { Move } from './moves'
import type { Step } from '../model/requests'

/** A failover if the instance does not exist yet. */
export function migrateStep(model: ClusterModel, instance: number, to?: number): Step {
  const data = model.instances[instance]?.data
  const name = data?.name ?? ''
  const target = to === undefined ? {} : { target_node: model.data.nodes[to]?.name }
  if (data?.forthcoming) {
    return {
      OP_ID: 'OP_INSTANCE_FAILOVER',
      instance_name: name,
      shutdown_timeout: 120,
      ignore_consistency: false,
      ...target,
      ignore_ipolicy: false,
      cleanup: false,
    }
  }
  return {
    OP_ID: 'OP_INSTANCE_MIGRATE',
    instance_name: name,
    ...target,
    allow_runtime_changes: false,
    ignore_ipolicy: false,
    cleanup: false,
    allow_failover: true,
    ignore_hvversions: true,
  }
}

export const replaceStep = (model: ClusterModel, instance: number, to: number): Step => ({
  OP_ID: 'OP_INSTANCE_REPLACE_DISKS',
  instance_name: model.instances[instance]?.data.name ?? '',
  early_release: false,
  ignore_ipolicy: false,
  mode: 'replace_new_secondary',
  disks: [],
  remote_node: model.data.nodes[to]?.name,
})

/** The name of a move for people: a running instance is migrated live, a stopped one fails over. */
export function moveName(model: ClusterModel, { kind, instance }: Pick<Move, 'kind' | 'instance'>): string {
  const running = isRunning(model.instances[instance]?.data.status ?? '')
  return kind.replace('-to-any', '').replace('failover', running ? 'migrate' : 'failover')
}

export function moveSteps(model: ClusterModel, { kind, instance, primary, secondary }: Move): Step[] {
  const migrate = migrateStep(model, instance)
  switch (kind) {
    case 'failover':
      return [migrate]
    case 'failover-to-any':
      return [migrateStep(model, instance, primary)]
    case 'replace-secondary':
      return [replaceStep(model, instance, secondary)]
    case 'replace-and-failover':
      return [replaceStep(model, instance, primary), migrate]
    case 'failover-and-replace':
      return [migrate, replaceStep(model, instance, secondary)]
    case 'replace-primary':
      return [migrate, replaceStep(model, instance, primary), migrate]
  }
}
