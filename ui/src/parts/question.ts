// Questions to the allocation need much time of the master. An answer is cached until the user refreshes it. If the calculation takes long, the
// answer is the result of a job.
import { type QueryClient, QueryObserver, queryOptions } from '@tanstack/react-query'
import { send } from '../api/client'
import { timed } from '../api/last-change'
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

/** The permission that each question needs. */
export const QUESTION_PERMISSION: Readonly<Record<Path, string>> = {
  '/3/balance': 'cluster.balance',
  '/3/capacity': 'cluster.capacity',
  '/3/whatif': 'cluster.what_if',
}

/** The parameters of the default balance. */
export const USUAL_BALANCE = { max_moves: 20 }

export const questionQuery = <P extends Path>(path: P, body: Questions[P]['asked']) =>
  queryOptions({
    queryKey: ['question', path, body],
    queryFn: ({ client, signal }) => timed(() => ask(client, path, body, signal)),
    // An answer that equals the last one is a new answer, with its own time.
    structuralSharing: false,
    // Events of the cluster do not refetch the answer.
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
  const reported: unknown = await answer.json()
  return (answer.status === 202 ? await resultOf(client, idOf(reported), signal) : reported) as Questions[P]['told']
}

/** Waits for the end of the job. Events refresh its query, as on pages. */
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
