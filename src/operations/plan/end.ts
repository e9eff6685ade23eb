// Ends a plan before its opcode ends: the next step needs an answer that nobody can foresee. The opcode itself has not
// failed.
export class PlanEnd extends Error {}
