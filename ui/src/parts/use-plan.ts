// The plan of a request: what it would do, without doing it. A submission of the same request names it, and is refused when what the plan has
// read is no longer so.
import { useMutation } from '@tanstack/react-query'
import { request as send } from '../api/client'
import type { components } from '../api/schema'
import type { Request } from './copy-as'

export type Plan = components['schemas']['Plan']

/** Where a job of several steps is submitted: its plan is made of them, and its body names the plan. */
export const JOBS = '/3/jobs'

export const planOf = async ({ method, path, body }: Request): Promise<Plan> =>
  (await send('POST', '/3/plans', path === JOBS ? body : { request: { method, path, body } })) as Plan

/** Where a request is sent that is good only for its plan. */
export const withPlan = (path: string, plan: string): string => `${path}?plan=${encodeURIComponent(plan)}`

/** Says which request it is. */
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
    // That of another request tells nothing of this one.
    plan: made.data?.key === key ? made.data.plan : undefined,
    error: made.error,
    busy: made.isPending,
    make: () => made.mutate(),
  }
}
