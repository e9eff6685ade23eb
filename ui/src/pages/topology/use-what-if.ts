// The what-if question on the topology page, and the answer to the last question asked.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { components } from '../../api/schema'
import type { Values } from '../../forms/schema'
import { ask } from '../../parts/question'
import type { ClusterNode } from '../nodes/node'
import { type Happening, happeningOf, happeningOfWhatIf } from './cluster-picture'
import { dyingNames, isSameQuestion, whatIfRequest, type WhatIfDraft } from './what-if-draft'

type Request = components['schemas']['WhatIfRequest']
type WhatIf = components['schemas']['WhatIf']

export interface WhatIfState {
  readonly draft: WhatIfDraft
  readonly request: Request | undefined
  readonly told: WhatIf | undefined
  /** Whether the answer belongs to another question. */
  readonly old: boolean
  readonly error: Error | null
  readonly busy: boolean
  readonly happening: Happening
  change(this: void, draft: Partial<WhatIfDraft>): void
  ask(this: void): void
}

export function useWhatIf(nodes: readonly ClusterNode[], arriving: Values): WhatIfState {
  const client = useQueryClient()
  const [chosen, setChosen] = useState({ dying: [] as readonly string[], tag: '' })
  const draft = { ...chosen, arriving }
  const request = whatIfRequest(draft)
  const requested = useMutation({
    mutationFn: async (body: Request) => ({ body, told: await ask(client, '/3/whatif', body) }),
  })
  const reported = requested.data?.told
  const old = reported !== undefined && !isSameQuestion(requested.data?.body, request)
  const happening = useMemo(
    () =>
      reported === undefined || old
        ? happeningOf([], dyingNames({ ...chosen, arriving: {} }, nodes))
        : happeningOfWhatIf(reported),
    [reported, old, chosen, nodes],
  )
  return {
    ...{ draft, request, told: reported, old, happening, error: requested.error, busy: requested.isPending },
    change: (next) => setChosen((before) => ({ ...before, ...next })),
    ask: () => request !== undefined && requested.mutate(request),
  }
}
