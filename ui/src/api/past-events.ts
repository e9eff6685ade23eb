// Queries for lists of past events. Each new event refreshes them.
import { queryOptions } from '@tanstack/react-query'
import { api, got } from './client'
import type { components } from './schema'

export type PastEvent = components['schemas']['PastEvent']

const ASKED_MAX = 50

/** Past events, the newest first. `wanted` is a filter as in `/3/events`. */
export const pastEventsQuery = (desired: { readonly types: string; readonly objects?: string }) =>
  queryOptions({
    queryKey: ['events', 'list', desired],
    queryFn: () => got(api.GET('/3/events/past', { params: { query: { ...desired, limit: ASKED_MAX } } })),
  })
