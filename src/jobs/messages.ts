// Messages between luxid and a job process over the fork's channel: they hand over a job with its secrets, report its
// progress, and give orders to a running job. After a restart of luxid the latter two go over the job's live-lock
// socket.
import type { JobOrder, Progress } from './runner'

/** Order: make the job's live-lock, report it, and begin. */
export type ToProcess = { readonly do: 'begin'; readonly order: JobOrder }

export type FromProcess =
  | { readonly say: 'ready' }
  /** The live-lock exists: no other process gets the job any more. */
  | { readonly say: 'begun' }
  | { readonly say: 'failed'; readonly text: string }
  | { readonly say: 'idle' }

export type ToJob =
  /** The first message over the live-lock: luxid is back, and writes the job's transitions from now on. */
  | { readonly do: 'follow' }
  /** Answers each `job` and `step`, in order: it is durable, or the error. */
  | { readonly do: 'written'; readonly error: string | null }
  | { readonly do: 'cancel' }
  | { readonly do: 'priority'; readonly priority: number }

/** Both ends are this program in the same version. So we trust the form of any JSON with the right key. */
export function readMessage<T extends Progress | ToJob>(text: string, key: 'kind' | 'do'): T | undefined {
  const message: unknown = JSON.parse(text)
  if (typeof message !== 'object' || message === null || !(key in message)) return undefined
  return message as T
}
