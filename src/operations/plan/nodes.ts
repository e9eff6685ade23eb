// The nodes of a plan. They answer questions about their state, and receive no orders. The table of calls says which answer is assumed for
// an order.
import { recordValues } from '../../config/records'
import { type ArgsOf, type CallName, REAL_ONLY, type ResultOf, callOf, kvmProgram } from '../../rpc/node/calls'
import { NodeCallError, type NodeClient, type NodeResult, type NodeTarget } from '../../rpc/node/client'
import type { Prerequisite } from '../../rpc/luxi/plan'
import { PlanEnd } from './end'
import type { PlanState } from './state'

export function planNodes(state: PlanState): NodeClient {
  async function answers<C extends CallName>(
    targets: readonly NodeTarget[],
    call: C,
    args: ArgsOf<C> | ((target: NodeTarget) => ArgsOf<C>),
  ): Promise<Map<NodeTarget['uuid'], NodeResult<ResultOf<C>>>> {
    const argsOf = typeof args === 'function' ? args : () => args
    const answer = answerInstead(state, targets, call, argsOf)
    if (answer !== undefined)
      return new Map(targets.map((target) => [target.uuid, input<C>(state, target, call, answer)]))
    const results = await state.facts.nodes.all(targets, call, args)
    if (!state.running) for (const target of targets) noteAnswer(state, target, call, results.get(target.uuid))
    // After orders a real answer would differ. Calls after a failed answer only undo work, so they do not count.
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

/** Notes the order that the node would get. Returns undefined if the node is really asked. */
function answerInstead(
  state: PlanState,
  targets: readonly NodeTarget[],
  call: CallName,
  argsOf: (target: NodeTarget) => readonly unknown[],
): ((target: NodeTarget) => unknown) | undefined {
  const { kind, planned, plannedAfterOrders, program, toldElsewhere } = callOf(call)
  const asPlanned = (target: NodeTarget) => planned?.(...argsOf(target))
  if (kind !== 'question') {
    if (kind === 'order' && toldElsewhere !== true)
      state.orders.push(...targets.map(({ name }) => ({ node: name, call })))
    return asPlanned
  }
  const starts = targets.map((target) => program?.(...argsOf(target))).find((one) => isNew(state, one))
  if (starts !== undefined) {
    state.prerequisites.push(...targets.map((target) => unasked(target, call, starts)))
    return asPlanned
  }
  const after = state.orders.length > 0 ? plannedAfterOrders : undefined
  return after && ((target) => after(...argsOf(target)))
}

function input<C extends CallName>(
  state: PlanState,
  target: NodeTarget,
  call: C,
  answer: (target: NodeTarget) => unknown,
): NodeResult<ResultOf<C>> {
  if (target.offline && callOf(call).offlineToo !== true)
    return { ok: false, error: 'Node is marked offline', offline: true }
  const payload = answer(target)
  if (payload === REAL_ONLY) throw state.endsWith(new PlanEnd(`what node ${target.name} answers to ${call}`))
  return { ok: true, payload: payload as ResultOf<C> }
}

/** Whether the cluster does not start the program anyway: a plan must not start new programs. */
function isNew(state: PlanState, desired: string | undefined): boolean {
  if (desired === undefined) return false
  const { cluster, instances } = state.facts.config
  const known = [
    ...Object.values(cluster.hvparams),
    ...Object.values(cluster.os_hvp).flatMap((byHypervisor) => Object.values(byHypervisor)),
    ...recordValues(instances).map(({ hvparams }) => hvparams),
  ]
  return !known.some((params) => kvmProgram(params) === desired)
}

const unasked = ({ name }: NodeTarget, call: CallName, program: string): Prerequisite => ({
  ...{ what: `Node ${name} answers ${call}`, passed: null, code: null, node: name },
  reason: `a plan starts no program that the cluster does not use yet (kvm_path '${program}')`,
})

function noteAnswer(state: PlanState, node: NodeTarget, call: CallName, result: NodeResult<unknown> | undefined): void {
  const passed = result?.ok === true
  state.prerequisites.push({
    what: `Node ${node.name} answers ${call}`,
    // After an order that was not carried out, answers describe the present, not the future.
    passed: state.ordered ? null : passed,
    reason: passed ? null : result === undefined ? 'no answer' : result.error,
    code: null,
    node: node.name,
  })
}
