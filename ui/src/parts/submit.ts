// Submitting a request of a dialog: once, however often it is sent, and only while its object is as it was seen.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { request as send } from '../api/client'
import { Problem } from '../api/problem'
import { texts } from '../texts'
import type { Request } from './copy-as'
import { sessionStore } from '../api/session-store'
import { begun } from './begun'
import { JOBS, requestKey, withPlan } from './use-plan'

interface Options {
  readonly label: string
  /** The ETag of the object as it was seen. */
  readonly etag?: string
  /** The id of the request's plan. */
  readonly plan?: string
  /** Said at a field of the form: then the dialog need not say it again. */
  readonly refuse?: (parameter: string | undefined, text: string) => boolean
  /** Begins it again with what was typed, if the job fails. */
  readonly again?: () => void
  readonly done: (job: number) => void
}

export function useSubmit(request: Request, { label, etag, plan, refuse, again, done }: Options) {
  const client = useQueryClient()
  const sent = useRef({ of: '', key: '' })
  return useMutation({
    mutationFn: () => {
      // The same request that got no answer is the same submission; a changed one is another.
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
      // A refusal was an answer: the next try is another submission. Without an answer of the master the job may be there.
      if (error.status !== 0 && error.status < 502) sent.current = { of: '', key: '' }
      refuse?.(error.parameter, error.message)
      // What it is now is asked for, whoever may see events.
      if (error.status === 412) void client.invalidateQueries()
    },
  })
}

export function idOf(answer: unknown): number {
  if (typeof answer === 'object' && answer !== null && 'id' in answer) return Number(answer.id)
  throw new Problem(502, texts.problems.noJob)
}
