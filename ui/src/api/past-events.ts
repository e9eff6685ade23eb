// What has happened, for lists of it: they are asked for anew with each event, as all lists are.
import { queryOptions } from '@tanstack/react-query'
import { api, got } from './client'
import type { components } from './schema'

export type PastEvent = components['schemas']['PastEvent']

const ASKED_MAX = 50

/** The newest first. `wanted`: which ones, as `/3/events` has it. */
export const pastEventsQuery = (wanted: { readonly types: string; readonly objects?: string }) =>
  queryOptions({
    queryKey: ['events', 'list', wanted],
    queryFn: () => got(api.GET('/3/events/past', { params: { query: { ...wanted, limit: ASKED_MAX } } })),
  })
