// What the queue gets from outside.
import type { Clock } from '../lib/clock'
import type { Log } from '../lib/log'
import type { OwnerDied } from './execution'
import type { JobRunner } from './runner'
import type { QueueStore } from './store'

export interface QueueOptions {
  store: QueueStore
  runner: JobRunner
  ownerDied: OwnerDied
  clock: Clock
  log: Log
}
