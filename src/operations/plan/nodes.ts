// The nodes of a plan: they answer questions about their state, and receive no orders.
import { recordValues } from '../../config/records'
import { type ArgsOf, type CallName, type ResultOf, callOf } from '../../rpc/node/calls'
import { NodeCallError, type NodeClient, type NodeResult, type NodeTarget } from '../../rpc/node/client'
import type { Prerequisite } from '../../rpc/luxi/plan'
import type { PlanState } from './state'

/** Disks that orders have made are in sync. */
const IN_SYNC = { dev_path: '', is_degraded: false, ldisk_status: 1 }

export function planNodes(state: PlanState): NodeClient {
  async function answers<C extends CallName>(
    targets: readonly NodeTarget[],
    call: C,
    args: ArgsOf<C> | ((target: NodeTarget) => ArgsOf<C>),
  ): Promise<Map<NodeTarget['uuid'], NodeResult<ResultOf<C>>>> {
    if (callOf(call).kind !== 'question')
      return new Map(targets.map((target) => [target.uuid, order(state, target, call)]))
    const program = newProgram(state, call, args)
    if (program !== undefined) {
      for (const target of targets) state.prerequisites.push(unasked(target, call, program))
      return new Map(targets.map(({ uuid }) => [uuid, { ok: true, payload: null as ResultOf<C> }]))
    }
    if (call === 'blockdev_getmirrorstatus' && state.orders.length > 0) {
      const [disks] = typeof args === 'function' ? [] : args
      const payload = (Array.isArray(disks) ? disks.map(() => IN_SYNC) : []) as unknown as ResultOf<C>
      return new Map(targets.map(({ uuid }) => [uuid, { ok: true, payload }]))
    }
    const results = await state.facts.nodes.all(targets, call, args)
    if (!state.running) for (const target of targets) noteAnswer(state, target, call, results.get(target.uuid))
    // After the orders a real answer would differ. The calls after a failed answer only undo work, so they do not count.
    else if (state.orders.length > 0 && targets.some(({ uuid }) => results.get(uuid)?.ok !== true)) state.freeze()
    return results
  }

  return {
    all: answers,
    async one(target, call, args) {
      const result = (await answers([target], call, args)).get(target.uuid)
      if (result?.ok) return result.payload
      throw new NodeCallError(target.name, call, result?.error ?? 'no answer', result?.offline ?? false)
    },
    close: () => undefined,
  }
}

/** The program that a node would start to answer. Undefined if the cluster starts it anyway: a plan must not start new programs. */
function newProgram(state: PlanState, call: CallName, args: unknown): string | undefined {
  if (call !== 'hypervisor_validate_params' || !Array.isArray(args)) return undefined
  const wanted = programOf(args[1])
  if (wanted === undefined) return undefined
  const { cluster, instances } = state.facts.config
  const known = [
    ...Object.values(cluster.hvparams),
    ...Object.values(cluster.os_hvp).flatMap((byHypervisor) => Object.values(byHypervisor)),
    ...recordValues(instances).map(({ hvparams }) => hvparams),
  ]
  return known.some((params) => programOf(params) === wanted) ? undefined : wanted
}

function programOf(hvparams: unknown): string | undefined {
  const program: unknown = Reflect.get(Object(hvparams), 'kvm_path')
  return typeof program === 'string' ? program : undefined
}

const unasked = ({ name }: NodeTarget, call: CallName, program: string): Prerequisite => ({
  ...{ what: `Node ${name} answers ${call}`, passed: null, code: null, node: name },
  reason: `a plan starts no program that the cluster does not use yet (kvm_path '${program}')`,
})

function order<C extends CallName>(state: PlanState, { name, offline }: NodeTarget, call: C): NodeResult<ResultOf<C>> {
  if (callOf(call).kind === 'order' && call !== 'hooks_runner') state.orders.push({ node: name, call })
  if (offline) return { ok: false, error: 'Node is marked offline', offline: true }
  // If a unit needs more than this planned answer, its plan ends there.
  return { ok: true, payload: (callOf(call).planned ?? null) as ResultOf<C> }
}

function noteAnswer(state: PlanState, node: NodeTarget, call: CallName, result: NodeResult<unknown> | undefined): void {
  const passed = result?.ok === true
  state.prerequisites.push({
    what: `Node ${node.name} answers ${call}`,
    // After an order that was not carried out, an answer tells how the node is, not how it would be.
    passed: state.ordered ? null : passed,
    reason: passed ? null : result === undefined ? 'no answer' : result.error,
    code: null,
    node: node.name,
  })
}
