// Submits the request of a dialog. It runs only once, however often it is sent, and only if its object has not changed since it was shown.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { request as send } from '../api/client'
import { Problem } from '../api/problem'
import { texts } from '../texts'
import type { Request } from './request'
import { sessionStore } from '../api/session-store'
import { begun } from './started-jobs'
import { JOBS, requestKey, withPlan } from './use-plan'

interface Options {
  readonly label: string
  /** The ETag of the object when it was shown. */
  readonly etag?: string
  /** The id of the request's plan. */
  readonly plan?: string
  /** Shows an error at its field. Returns whether the form has this field; if not, the dialog shows the error. */
  readonly refuse?: (parameter: string | undefined, text: string) => boolean
  /** Opens the dialog again with its input, if the job fails. */
  readonly again?: () => void
  readonly done: (job: number) => void
}

export function useSubmit(request: Request, { label, etag, plan, refuse, again, done }: Options) {
  const client = useQueryClient()
  const sent = useRef({ of: '', key: '' })
  return useMutation({
    mutationFn: () => {
      // A repeated request without an answer keeps its key. A changed request gets a new key.
      const of = requestKey(request) + (etag ?? '') + (plan ?? '')
      if (sent.current.of !== of) sent.current = { of, key: crypto.randomUUID() }
      const headers = { 'Idempotency-Key': sent.current.key, ...(etag === undefined ? {} : { 'If-Match': etag }) }
      const { method, path, body } = request
      if (plan === undefined) return send(method, path, body, headers)
      return path === JOBS
        ? send(method, path, { ...body, plan }, headers)
        : send(method, withPlan(path, plan), body, headers)
    },
    onSuccess(answer) {
      const id = idOf(answer)
      begun.addJob({ id, label, user: sessionStore.get().session?.user ?? '', again })
      done(id)
    },
    onError(error) {
      if (!(error instanceof Problem)) return
      // A refusal was an answer, so the next try gets a new key. Without an answer of the master, the job may exist.
      if (error.status !== 0 && error.status < 502) sent.current = { of: '', key: '' }
      refuse?.(error.parameter, error.message)
      // Loads the present state of the object, also for users who may not see events.
      if (error.status === 412) void client.invalidateQueries()
    },
  })
}

export function idOf(answer: unknown): number {
  if (typeof answer === 'object' && answer !== null && 'id' in answer) return Number(answer.id)
  throw new Problem(502, texts.problems.noJob)
}
