// Who waits for changes of a job.
import type { JobId } from '../rpc/luxi/calls'
import type { Job } from './job'

type Listener = (job: Job) => void

export class JobListeners {
  private readonly listeners = new Map<JobId, Set<Listener>>()

  /** Returns a function that stops this. */
  add(id: JobId, listener: Listener): () => void {
    const listeners = this.listeners.get(id) ?? new Set()
    this.listeners.set(id, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.listeners.get(id) === listeners) this.listeners.delete(id)
    }
  }

  tell(job: Job): void {
    for (const listener of [...(this.listeners.get(job.id) ?? [])]) listener(job)
  }
}
