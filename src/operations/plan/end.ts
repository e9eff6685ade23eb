// Ends a plan before its opcode ends, because the next step needs an answer that cannot be foreseen. The opcode itself has not failed.
export class PlanEnd extends Error {}
