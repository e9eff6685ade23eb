// Questions to the allocation, which take the master a while: each is asked once and kept, and asked again when somebody wants it. The answer to
// one that takes longer is the result of a job.
import { type QueryClient, QueryObserver, queryOptions } from '@tanstack/react-query'
import { send } from '../api/client'
import { Problem } from '../api/problem'
import type { components } from '../api/schema'
import { errorOf, isOver, jobQuery } from './job'
import { idOf } from './submit'

interface Questions {
  readonly '/3/balance': { asked: components['schemas']['BalanceRequest']; told: components['schemas']['BalancePlan'] }
  readonly '/3/capacity': { asked: components['schemas']['CapacityRequest']; told: components['schemas']['Capacity'] }
  readonly '/3/whatif': { asked: components['schemas']['WhatIfRequest']; told: components['schemas']['WhatIf'] }
}
type Path = keyof Questions

/** The permission that each takes. */
export const QUESTION_PERMISSION: Readonly<Record<Path, string>> = {
  '/3/balance': 'cluster.balance',
  '/3/capacity': 'cluster.capacity',
  '/3/whatif': 'cluster.what_if',
}

/** The balance that is asked for where nobody says which. */
export const USUAL_BALANCE = { max_moves: 20 }

export const questionQuery = <P extends Path>(path: P, body: Questions[P]['asked']) =>
  queryOptions({
    queryKey: ['question', path, body],
    queryFn: ({ client, signal }) => ask(client, path, body, signal),
    // Whatever happens in the cluster, it is not asked again by itself.
    staleTime: 'static',
    refetchOnReconnect: false,
    retry: false,
  })

export async function ask<P extends Path>(
  client: QueryClient,
  path: P,
  body: Questions[P]['asked'],
  signal?: AbortSignal,
): Promise<Questions[P]['told']> {
  const headers = { 'Content-Type': 'application/json' }
  const answer = await send(new Request(path, { method: 'POST', body: JSON.stringify(body), headers, signal }))
  const told: unknown = await answer.json()
  return (answer.status === 202 ? await resultOf(client, idOf(told), signal) : told) as Questions[P]['told']
}

/** Waits for the end of the job as pages do: events tell of it. */
function resultOf(client: QueryClient, id: number, signal?: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const leave = new QueryObserver(client, jobQuery(id)).subscribe(({ data: job, error }) => {
      if (error !== null) end(() => reject(error))
      else if (job?.status === 'success') end(() => resolve(job.ops[0]?.result))
      else if (job !== undefined && isOver(job)) end(() => reject(new Problem(500, errorOf(job) ?? job.status)))
    })
    const end = (settle: () => void) => {
      leave()
      settle()
    }
    signal?.addEventListener('abort', () => end(() => reject(new DOMException('', 'AbortError'))))
  })
}
