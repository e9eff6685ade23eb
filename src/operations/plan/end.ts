// Where a plan ends before its opcode does: the next step needs an answer that nobody can foresee. This is no failure of the opcode.
export class PlanEnd extends Error {}
