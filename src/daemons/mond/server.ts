// The monitoring daemon: the node's reports over plain HTTP for everybody, as in Ganeti. It changes nothing.
import type { AddressInfo } from 'node:net'
import { serve } from '../../http/serve'
import type { SelfMetrics } from '../../lib/self-metrics'
import { MOND_HTTP_LIMITS } from '../../model/limits/mond'
import { mondApplication } from './application'
import type { MondOptions } from './context'
import { REFUSAL_WORDS } from './errors'

export interface Mond {
  readonly addresses: readonly AddressInfo[]
  close(): Promise<void>
  tell(): SelfMetrics
}

export async function startMond(options: MondOptions): Promise<Mond> {
  const { addresses, port, log, clock, random, files } = options
  return serve({
    ...{ addresses, port, log, clock, random, files, limits: MOND_HTTP_LIMITS },
    application: mondApplication(options),
    words: REFUSAL_WORDS,
  })
}
