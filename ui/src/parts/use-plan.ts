// The plan of a request shows its effects without carrying it out. A submission of the same request names the plan, and is refused if anything
// that the plan has read has changed.
import { useMutation } from '@tanstack/react-query'
import { request as send } from '../api/client'
import type { components } from '../api/schema'
import type { Request } from './request'

export type Plan = components['schemas']['Plan']

/** The path for a job of several steps. Its plan is made from these steps, and its body names the plan. */
export const JOBS = '/3/jobs'

export const planOf = async ({ method, path, body }: Request): Promise<Plan> =>
  (await send('POST', '/3/plans', path === JOBS ? body : { request: { method, path, body } })) as Plan

/** Why it is not possible, or not certain to be. */
export const reasonsOf = ({ ops }: Plan): string[] => [
  ...new Set(
    ops.flatMap(({ prerequisites }) =>
      prerequisites.flatMap(({ passed, reason }) => (passed === true || reason === null ? [] : [reason])),
    ),
  ),
]

/** The path of a request that is only valid with its plan. */
export const withPlan = (path: string, plan: string): string => `${path}?plan=${encodeURIComponent(plan)}`

/** A key that identifies a request. */
export const requestKey = ({ method, path, body }: Request): string => JSON.stringify([method, path, body])

export interface Planning {
  readonly plan?: Plan
  readonly error: Error | null
  readonly busy: boolean
  make(this: void): void
}

export function usePlan(request: Request): Planning {
  const key = requestKey(request)
  const made = useMutation({ mutationFn: async () => ({ key, plan: await planOf(request) }) })
  return {
    // A plan of another request does not apply.
    plan: made.data?.key === key ? made.data.plan : undefined,
    error: made.error,
    busy: made.isPending,
    make: () => made.mutate(),
  }
}
