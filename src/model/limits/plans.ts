// Plans of jobs.

/** Seconds that a plan stays valid. */
export const PLAN_S = 15 * 60
/** Remembered plans, of all users and of one; beyond that the oldest are forgotten. */
export const PLANS_MAX = 1000
export const PLANS_PER_USER_MAX = 200
/** Plans in the making at the same time, of all users and of one. */
export const PLANS_RUNNING_MAX = 4
export const PLANS_RUNNING_PER_USER_MAX = 2
/** Seconds for making a plan. */
export const PLAN_MAKING_S = 60
/** Objects that a plan may depend on. */
export const PLAN_OBJECTS_MAX = 5000
/** Waits that a plan may skip for each opcode. */
export const PLAN_SLEEPS_MAX = 20
