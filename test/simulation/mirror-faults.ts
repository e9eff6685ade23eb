// Faults of the nodes of one mirrored disk: processes are killed, power fails, the line is cut, files cannot be written or flushed.
import type { MirrorNode } from './mirror-node'
import type { SimFiles } from './sim-files'
import type { Simulator } from './simulator'

export class MirrorFaults {
  isCut = false
  /** A file has failed, so that the end of a guest makes nothing safe. */
  haveFailed = false
  private readonly mending = new Set<() => void>()

  constructor(
    private readonly simulator: Simulator,
    private readonly files: SimFiles,
    private readonly nodes: readonly [MirrorNode, MirrorNode],
    private readonly powerOff: (nodes: readonly MirrorNode[]) => void,
  ) {}

  strike(): void {
    const { simulator, nodes } = this
    const node = simulator.pick(nodes)
    const time_ms = simulator.between(100, 8000)
    const file = simulator.pick([node.data, node.data, node.meta])
    const strikes: (readonly [string, () => void])[] = [
      [`${node.name} is killed`, () => node.process?.end('killed')],
      [`${node.name} loses its power`, () => this.powerOff([node])],
      ['both lose their power', () => this.powerOff(nodes)],
      ['the line is cut', () => this.cut(time_ms)],
      [`${file} cannot be written`, () => this.fail(file, 'write', time_ms)],
      [`${file} cannot be flushed`, () => this.fail(file, 'flush', time_ms / 4)],
    ]
    const [what, action] = simulator.pick(strikes)
    simulator.note('FAULT', what)
    action()
  }

  /** All is well from now on. */
  heal(): void {
    this.isCut = false
    for (const node of this.nodes) node.missing = false
    for (const mend of this.mending) mend()
    this.mending.clear()
  }

  private cut(time_ms: number): void {
    this.isCut = true
    this.simulator.after(time_ms, undefined, () => (this.isCut = false))
  }

  private fail(file: string, fault: 'write' | 'flush', time_ms: number): void {
    this.haveFailed = true
    const node = this.nodes.find(({ meta }) => meta === file)
    if (node !== undefined) {
      node.failing++
      node.isUnaware = true
    }
    const heal = this.files.fail(file, fault)
    let isOver = false
    const mend = () => {
      heal()
      if (!isOver && node !== undefined) node.failing--
      isOver = true
    }
    this.mending.add(mend)
    this.simulator.after(time_ms, undefined, mend)
  }
}
