// A failed job: its error, advice, and a button that tries again with the same input.
import { Button } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import type { components } from '../api/schema'
import { texts } from '../texts'
import { begun } from './started-jobs'
import { ProblemBox } from './problem-box'

type JobError = components['schemas']['JobError']

const own = texts.jobs.failure

/** Advice by the code of the error, which is the second argument of most errors, or by its class. */
export const adviceForJob = ({ class: name, args }: JobError): string =>
  own.byKind[typeof args[1] === 'string' ? args[1] : ''] ?? own.byClass[name] ?? own.otherwise

export const JobFailure = ({ id, error }: { id: number; error: JobError }) => (
  <ProblemBox error={error.message} advice={adviceForJob(error)}>
    <TryAgain id={id} />
  </ProblemBox>
)

/** Shown only on the page that started the job, because only this page has the input. */
function TryAgain({ id }: { id: number }) {
  const again = useSyncExternalStore(begun.subscribe, () => begun.get().jobs.find((job) => job.id === id)?.again)
  if (again === undefined) return null
  return (
    <Button
      variant="default"
      size="compact-sm"
      mt="xs"
      onClick={() => {
        begun.hideJob(id)
        again()
      }}
    >
      {own.again}
    </Button>
  )
}
