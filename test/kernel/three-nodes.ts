// Three nodes with real kernels for the tests of a file, tidied before each of them. Files run side by side, each with nodes of its own.
import { Machines, present } from './machines'

const NODES = [1, 2, 3]

export function threeNodes(begun: (machines: Machines) => void): void {
  jest.setTimeout(1_800_000)
  let machines: Machines | undefined
  beforeAll(async () => {
    if (!present) return
    machines = await Machines.start(NODES.length)
    begun(machines)
  })
  beforeEach(async () => {
    await machines?.tidy()
    // A later test looks whether there was another split brain.
    for (const node of NODES) await machines?.inGuest(node, 'dmesg -C')
  })
  afterAll(() => machines?.remove())
}
