// Allocation: how far its search looks, and how much is thought about at the same time.

/** Nodes times instances up to which a step looks at all instances where these are of a few sizes; above, first at those that gained most. */
export const EXHAUSTIVE_TRIALS = 100_000
/** Instances, no two of them alike, that such a search looks at again for a step because they promise most; steps after which it looks at all. */
export const LAZY_LOOKS = 48
export const LAZY_ROUNDS = 50
/** Who promised less than this part of the best gain is not looked at again. */
export const LAZY_PART = 0.95
/** Sizes of candidates from which on a balance keeps what each of them promises; below, many are alike, and what one gives all give. */
export const PROMISING_SIZES = 16
/** Instances that a step looks at in the order of their promises before it sorts the others. */
export const PROMISING_FIRST = 8
/** Kinds of nodes that a step tells apart: more than ever come up. */
export const NODE_KINDS_MAX = 2 ** 24
/** From so many targets of a move on, those are left out that cannot be better than what was found. */
export const BOUNDED_TARGETS = 16
/** Sizes of instances for which it is kept what they would add to each target. */
export const BOUND_SIZES_MAX = 2_000
/** Instances, or nodes, that are read from the configuration, or handed to a thread, before the event loop serves others. */
export const INSTANCES_AT_ONCE = 250
/** Questions that are thought about at the same time, and that may wait for that. */
export const ALLOCATION_THREADS = 2
export const ALLOCATION_WAITING_MAX = 20
/** Questions of one user, running and waiting together; a further question becomes a job. */
export const ALLOCATION_PER_USER_MAX = 5
/** Seconds that a question to the allocation may be thought about. */
export const ALLOCATION_S = 3600
/** Seconds within which a request is answered; then its question becomes a job. */
export const ALLOCATION_ANSWER_S = 20
/** MiB that thinking about a question may take. */
export const ALLOCATION_MEMORY_MIB = 1024
/** Instances that may arrive in one question. */
export const ARRIVING_MAX = 1000
/** Nodes that a plan of a balance tells of, in all its steps together, when it is to explain itself. */
export const EXPLAINED_CANDIDATES_MAX = 20_000
/** From so many nodes on, nodes that are alike are tried once for all of them when a cluster is filled. */
export const ALIKE_FROM_NODES = 64
/** How often an instance is put somewhere to see whether there is room for all that a node has. */
export const OUTLOOK_TRIES = 1000
