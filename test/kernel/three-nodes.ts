// Three nodes with real kernels for the tests of a file, which are put in order before each of them.
import { Machines, present } from './machines'
import { Mirrors } from './mirrors'
import { Programs } from './programs'

export interface ThreeNodes {
  readonly machines: Machines
  readonly mirrors: Mirrors
  /** Counts what operations start; the table is printed at the end. */
  readonly programs: Programs
}

/** They are there when the first test begins. */
export function threeNodes(): () => ThreeNodes {
  let nodes: ThreeNodes | undefined
  beforeAll(async () => {
    if (!present) return
    const machines = await Machines.start(3)
    nodes = { machines, mirrors: new Mirrors(machines), programs: new Programs(machines, [1, 2, 3]) }
  })
  beforeEach(() => nodes?.machines.tidy())
  afterAll(async () => {
    if (nodes === undefined) return
    process.stdout.write(nodes.programs.table())
    await nodes.machines.remove()
  })
  return () => {
    if (nodes === undefined) throw new Error('the nodes did not start')
    return nodes
  }
}
