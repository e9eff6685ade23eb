// The messages between luxid and a job process over the fork's channel. They hand over a job with its secrets, report its progress, and tell a
// running job what to do. After a restart of luxid the latter two go over the job's live-lock socket.
import type { JobOrder, Progress } from './runner'

/** The process makes the job's live-lock, says so, and begins. */
export type ToProcess = { readonly do: 'begin'; readonly order: JobOrder }

export type FromProcess =
  | { readonly say: 'ready' }
  /** The live-lock is there: the job is not given to another process any more. */
  | { readonly say: 'begun' }
  | { readonly say: 'failed'; readonly text: string }
  | { readonly say: 'idle' }

export type ToJob =
  /** First over the live-lock: luxid is there again, and writes the job's transitions from now on. */
  | { readonly do: 'follow' }
  /** Answers each `job` and `step`, in their order: it is durable, or why it is not. */
  | { readonly do: 'written'; readonly error: string | null }
  | { readonly do: 'cancel' }
  | { readonly do: 'priority'; readonly priority: number }

/** Both ends are this program in the same version, so the shape is trusted once the text is JSON with the right key. */
export function readMessage<T extends Progress | ToJob>(text: string, key: 'kind' | 'do'): T | undefined {
  const message: unknown = JSON.parse(text)
  if (typeof message !== 'object' || message === null || !(key in message)) return undefined
  return message as T
}
