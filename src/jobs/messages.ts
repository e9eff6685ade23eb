// What luxid and a job process say to each other over the fork's channel: handing over a job, with its secrets, then its progress and
// what a running job is told. After a restart of luxid these go over the job's live-lock socket.
import type { JobId } from '../rpc/luxi/calls'
import type { JobOrder, Progress } from './runner'

export type ToProcess =
  | { readonly do: 'prepare'; readonly id: JobId; readonly livelock: string }
  | { readonly do: 'begin'; readonly order: JobOrder }

export type FromProcess =
  | { readonly say: 'ready' }
  | { readonly say: 'prepared'; readonly id: JobId }
  | { readonly say: 'failed'; readonly text: string }
  | { readonly say: 'idle' }

export type ToJob =
  /** First over the live-lock: luxid is there again, and writes the job's transitions from now on. */
  | { readonly do: 'follow' }
  /** Answers each `job` and `step`, in their order: it is durable, or why it is not. */
  | { readonly do: 'written'; readonly error: string | null }
  | { readonly do: 'cancel' }
  | { readonly do: 'priority'; readonly priority: number }

export type FromJob =
  | Progress
  /** The job was begun: it is not given to another process any more. */
  | { readonly kind: 'begun' }

/** Both ends are this program in the same version, so the shape is trusted once the text is JSON with the right key. */
export function readMessage<T extends FromJob | ToJob>(text: string, key: 'kind' | 'do'): T | undefined {
  const message: unknown = JSON.parse(text)
  if (typeof message !== 'object' || message === null || !(key in message)) return undefined
  return message as T
}
