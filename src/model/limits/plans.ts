// Plans of jobs, which are made before anybody decides to carry them out.

/** Seconds that a plan can be carried out. */
export const PLAN_S = 15 * 60
/** Plans that are remembered at the same time, of all and of one user; beyond them the oldest are forgotten. */
export const PLANS_MAX = 1000
export const PLANS_PER_USER_MAX = 200
/** Plans that are made at the same time, for all and for one user. */
export const PLANS_RUNNING_MAX = 4
export const PLANS_RUNNING_PER_USER_MAX = 2
/** Seconds that making a plan may take. */
export const PLAN_MAKING_S = 60
/** Objects that a plan may hang on. */
export const PLAN_OBJECTS_MAX = 5000
/** Waits that are skipped for each opcode of a plan. */
export const PLAN_SLEEPS_MAX = 20
