// Allocation: how far its search looks, and how many questions run at the same time.

/**
 * Nodes times instances. Up to this product a step considers all instances if they have few sizes; above it, the best
 * ones first.
 */
export const EXHAUSTIVE_TRIALS = 100_000
/** How many different promising instances a lazy step considers again; and after how many steps it considers all. */
export const LAZY_LOOKS = 48
export const LAZY_ROUNDS = 50
/** A lazy step skips instances that promised less than this share of the best gain. */
export const LAZY_PART = 0.95
/**
 * From this many different sizes on, a balance keeps the promise of each candidate. With fewer sizes, many candidates
 * are alike and give the same.
 */
export const PROMISING_SIZES = 16
/** Instances that a step considers in the order of their promises before it sorts the rest. */
export const PROMISING_FIRST = 8
/** Kinds of nodes that a step can tell apart; more than ever occur. */
export const NODE_KINDS_MAX = 2 ** 24
/** From this many targets of a move on, the search skips those that cannot beat the best one. */
export const BOUNDED_TARGETS = 16
/** Sizes of instances for which we remember what they would add to each target. */
export const BOUND_SIZES_MAX = 2_000
/**
 * Instances or nodes that are read from the configuration, or passed to a thread, before the event loop serves others.
 */
export const INSTANCES_AT_ONCE = 250
/** Questions that run at the same time, and questions that may wait. */
export const ALLOCATION_THREADS = 2
export const ALLOCATION_WAITING_MAX = 20
/** Running and waiting questions of one user together; a further one becomes a job. */
export const ALLOCATION_PER_USER_MAX = 5
/** Seconds that a question to the allocation may take. */
export const ALLOCATION_S = 3600
/** Seconds until a request must be answered; then its question becomes a job. */
export const ALLOCATION_ANSWER_S = 20
/** MiB of memory for a question. */
export const ALLOCATION_MEMORY_MIB = 1024
/** Instances that may arrive in one question. */
export const ARRIVING_MAX = 1000
/** Nodes that the explanation of a balance lists, in all steps together. */
export const EXPLAINED_CANDIDATES_MAX = 20_000
/** From this many nodes on, filling a cluster tries only one of several nodes that are alike. */
export const ALIKE_FROM_NODES = 64
/** Trial placements of an instance to see whether all of a node's instances would find room. */
export const OUTLOOK_TRIES = 1000
