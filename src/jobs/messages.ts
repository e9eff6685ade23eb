// What luxid and a job process say to each other. Over the fork's channel: handing over a job, with its secrets. Over the job's
// live-lock socket: its progress and what a running job is told; that works after a restart of luxid too.
import type { JobId } from '../rpc/luxi/calls'
import type { NodeTarget } from '../rpc/node/client'
import type { JobOrder, Progress } from './runner'

export type ToProcess =
  | { readonly do: 'prepare'; readonly id: JobId; readonly livelock: string }
  | { readonly do: 'begin'; readonly order: JobOrder }
  | { readonly do: 'abandon' }

export type FromProcess =
  | { readonly say: 'ready' }
  | { readonly say: 'prepared'; readonly id: JobId }
  | { readonly say: 'failed'; readonly text: string }
  | { readonly say: 'idle' }

export type ToJob =
  | { readonly do: 'cancel' }
  | { readonly do: 'priority'; readonly priority: number }
  | { readonly do: 'replicas'; readonly replicas: readonly NodeTarget[] }

export type FromJob =
  | Progress
  /** The job has ended, and the socket is about to close. */
  | { readonly kind: 'bye' }
  | { readonly kind: 'lagging'; readonly node: string; readonly reason: string }

/** Both ends are this program in the same version, so the shape is trusted once the text is JSON with the right key. */
export function readMessage<T extends FromJob | ToJob>(text: string, key: 'kind' | 'do'): T | undefined {
  const message: unknown = JSON.parse(text)
  if (typeof message !== 'object' || message === null || !(key in message)) return undefined
  return message as T
}
