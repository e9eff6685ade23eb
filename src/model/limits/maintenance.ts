// The maintenance daemon.
import { HTTP_LIMITS, type HttpLimits } from './http'

/** Unacknowledged events of one node; its further reports are not noted. */
export const EVENTS_PER_NODE_MAX = 16
/** The last jobs of an event whose numbers it remembers. */
export const EVENT_JOBS_MAX = 1000
/** Characters of job errors in an event. */
export const FAILURE_CHARS_MAX = 1000
/** Seconds in which jobs of a dead maintd may still appear in the queue. */
export const TAKE_OVER_S = 2
/** A node flaps if its report has changed this often in this many seconds. */
export const FLAPPING_CHANGES = 6
export const FLAPPING_S = 300
/** Characters of a report's object that we store; it is copied to all candidates. */
export const REPORT_KEPT_CHARS_MAX = 64 << 10
/** Bytes that we read of a monitoring daemon's answer. */
export const DIAGNOSE_ANSWER_BYTES_MAX = 1 << 20
/** Seconds for a node to answer. */
export const DIAGNOSE_ANSWER_S = 10
/** Seconds that a node's clock may differ. */
export const REPORT_CLOCK_SKEW_S = 150
/** Nodes that are asked at the same time. */
export const ASKED_AT_ONCE = 32
/** Instances of a node for which one round looks for a place. */
export const PLACES_PER_NODE_MAX = 20
/** Jobs of a round, and how many of them may be moves that balance a group. */
export const ROUND_JOBS_MAX = 200
export const BALANCE_MOVES_MAX = 10
/** Seconds of one question for events of instances, and until the next one, or the next look, after a failure. */
export const CARE_EVENTS_WAIT_S = 30
export const CARE_AGAIN_S = 2
/** Seconds that the repair of an instance waits for the tag that announces it. */
export const REPAIR_TAG_S = 10
/** Seconds between two checks of a round's jobs. */
export const ROUND_LOOK_S = 1
/** Seconds until a failed round is tried again. */
export const ROUND_AGAIN_S = 30
/** Seconds until an instance whose move for a balance has failed is moved again, if nothing changes. */
export const BALANCE_AGAIN_S = 3600
/** Seconds for the plan of a round, and the memory of its thread. */
export const ROUND_PLAN_S = 300
export const ROUND_PLAN_MEMORY_MIB = 1024
/** Seconds after which an idle planning thread ends. */
export const ROUND_THREAD_IDLE_S = 20
/** Attempts to write while somebody else changes the same object. */
export const WRITES_MAX = 10
/** The longest pause between such attempts, in seconds. */
export const CONFLICT_S = 1
/** Seconds to wait until a change appears in our copy of the configuration. */
export const CHANGE_SEEN_S = 10

/** Requests to maintd have almost no bodies. */
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
