// The maintenance daemon.
import { HTTP_LIMITS, type HttpLimits } from './http'

/** Events of one node that nobody has acknowledged yet; its further reports are not noted. */
export const EVENTS_PER_NODE_MAX = 16
/** Numbers of jobs that an event remembers, the last ones. */
export const EVENT_JOBS_MAX = 1000
/** Characters of the errors of jobs that an event tells. */
export const FAILURE_CHARS_MAX = 1000
/** Seconds that jobs of a daemon that has died may still take to appear in the queue. */
export const TAKE_OVER_S = 2
/** A node whose report changed so often within so many seconds flaps. */
export const FLAPPING_CHANGES = 6
export const FLAPPING_S = 300
/** Characters of a report's object that are kept: it is copied to all candidates. */
export const REPORT_KEPT_CHARS_MAX = 64 << 10
/** Bytes of an answer of a monitoring daemon that are read. */
export const DIAGNOSE_ANSWER_BYTES_MAX = 1 << 20
/** Seconds that a node has for an answer. */
export const DIAGNOSE_ANSWER_S = 10
/** Seconds by which the clock of a node may differ. */
export const REPORT_CLOCK_SKEW_S = 150
/** Nodes that are asked at the same time. */
export const ASKED_AT_ONCE = 32
/** Instances of a node for which a place is looked for in one round. */
export const PLACES_PER_NODE_MAX = 20
/** Jobs of a round, and moves among them that balance a group. */
export const ROUND_JOBS_MAX = 200
export const BALANCE_MOVES_MAX = 10
/** Seconds that a repair of an instance waits for the tag that tells of it. */
export const REPAIR_TAG_S = 10
/** Seconds between two looks at the jobs of a round. */
export const ROUND_LOOK_S = 1
/** Seconds after which a round that failed is tried again. */
export const ROUND_AGAIN_S = 30
/** Seconds that the plan of a round may take, and the memory of its thread. */
export const ROUND_PLAN_S = 300
export const ROUND_PLAN_MEMORY_MIB = 1024
/** Seconds after which that thread is ended when there is no round to plan. */
export const ROUND_THREAD_IDLE_S = 20
/** Times that a write is tried while somebody else changes the same. */
export const WRITES_MAX = 10
/** Seconds until it is tried again at the latest. */
export const CONFLICT_S = 1
/** Seconds after which a change is looked for in the copy of the configuration. */
export const CHANGE_SEEN_S = 10

/** Its requests have next to no bodies. */
export const MAINTD_HTTP_LIMITS: HttpLimits = {
  ...HTTP_LIMITS,
  ...{
    body_bytes: 16384,
    long_body_bytes: 16384,
    long_bodies: 1,
    long_bodies_per_user: 1,
    body_values: 100,
    body_depth: 5,
  },
}
