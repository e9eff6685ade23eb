// A job that could not be saved. If it is refused, neither a later luxid nor another master may run it, so it must not remain anywhere.
import { timestamp } from '../lib/clock'
import { UnsettledAppend } from '../lib/file/unsettled-append'
import { dequeued, type Job } from './job'
import type { QueueOptions } from './queue-options'

interface Surroundings extends Pick<QueueOptions, 'store' | 'clock' | 'log'> {
  /** Gets the job that is now written as cancelled: whoever asks for jobs sees it, and candidates get its file. */
  publish(cancelled: Job): void
}

/**
 * The error of its submitter. Undefined if it is accepted after all: it was saved, something else failed, and it can neither be removed nor be
 * written as cancelled. Nobody is told of an UnsettledAppend, because a later luxid may find the job.
 */
export async function whyRefused(
  job: Job,
  reason: unknown,
  isNotSaved: boolean,
  surroundings: Surroundings,
): Promise<Error | undefined> {
  const why = reason instanceof Error ? reason : new Error(String(reason))
  if (await isTakenBack(job, surroundings))
    return why instanceof UnsettledAppend && why.cause instanceof Error ? why.cause : why
  return isNotSaved ? why : undefined
}

async function isTakenBack(job: Job, { store, clock, log, publish }: Surroundings): Promise<boolean> {
  try {
    await store.retract(job.id)
    return true
  } catch (error) {
    log.error({ job: job.id, err: error }, 'a refused job cannot be removed, so it is written as cancelled')
  }
  const cancelled = dequeued(job, timestamp(clock))
  const isWritten = await store.save(cancelled).then(
    () => true,
    () => false,
  )
  if (isWritten) publish(cancelled)
  return isWritten
}
