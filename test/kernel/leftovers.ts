// Volumes and devices of nodes that the configuration does not know, and the commands by which verify wants all that is not well mended.
import { drbdId, logicalVolumes } from '../../src/config/lookup'
import type { ConfigData } from '../../src/model/config'
import { type Machines, nameOf } from './machines'

/** Verify is followed so many times: what it names may hide something else. */
const ROUNDS = 4

interface Left {
  readonly node: number
  readonly names: string[]
}

export class Leftovers {
  constructor(
    private readonly machines: Machines,
    private readonly nodes: readonly number[],
  ) {}

  async found(): Promise<Left[]> {
    const known = await this.known()
    const each = this.nodes.map(async (node) => {
      const names = [...(await this.volumes(node)), ...(await this.minors(node))]
      return { node, names: names.filter((name) => !known.get(nameOf(node))?.has(name)) }
    })
    return (await Promise.all(each)).filter(({ names }) => names.length > 0)
  }

  /** Verify names all that is left over, and what it says is done, until nothing is left and `problem` tells none. */
  async mend(problem: () => Promise<string | undefined> = () => Promise.resolve(undefined)): Promise<void> {
    for (let round = 1; ; round++) {
      const [left, why] = [await this.found(), await problem()]
      if (left.length === 0 && why === undefined) return
      const reported = await this.machines.verify()
      if (round > ROUNDS) throw new Error(`not well after ${ROUNDS} rounds: ${why}\n${reported}`)
      for (const { node, names } of left)
        for (const name of names)
          if (!reported.includes(name)) throw new Error(`verify does not name ${name} of ${nameOf(node)}: ${reported}`)
      await this.follow(reported)
    }
  }

  /** Carries out the commands that verify names. */
  private async follow(reported: string): Promise<void> {
    for (const line of reported.split('\n')) {
      const node = this.nodes.find((number) => line.includes(nameOf(number)))
      const [, program = '', rest = ''] = /'(gnt-instance|lvrename|lvremove|drbdsetup) ([^']+)'/.exec(line) ?? []
      if (program === 'gnt-instance') {
        const [verb = '', ...input] = rest.split(' ')
        const options = verb === 'remove' ? ['-f'] : []
        await this.machines.gnt('instance', verb, ...options, ...input).catch(() => undefined)
      } else if (program !== '' && node !== undefined) {
        const yes = program === 'lvremove' ? '-f ' : ''
        // It may have to wait for another one; the next round tells.
        await this.machines.inGuest(node, `${program} ${yes}${rest} || true`)
      }
    }
  }

  /** The volumes and minors of each node that the configuration has, in the words of verify. */
  private async known(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const { output } = await this.machines.onMaster(['cat', '/var/lib/ganeti/config.data'], 30)
    const config = JSON.parse(output) as Pick<ConfigData, 'disks' | 'nodes'>
    const known = new Map(Object.values(config.nodes).map(({ name }) => [name, new Set<string>()]))
    for (const disk of Object.values(config.disks)) {
      const id = drbdId(disk)
      for (const uuid of disk.nodes) {
        const names = known.get(config.nodes[uuid]?.name ?? '')
        for (const [group, volume] of logicalVolumes(disk)) names?.add(`${group}/${volume}`)
        if (id !== undefined) names?.add(`drbd minor ${uuid === id.nodeA ? id.minorA : id.minorB}`)
      }
    }
    return known
  }

  private async volumes(node: number): Promise<string[]> {
    return words(await this.machines.inGuest(node, 'lvs --noheadings -o vg_name,lv_name --separator /'))
  }

  private async minors(node: number): Promise<string[]> {
    const reported = await this.machines.inGuest(node, "sed -n 's/^ *\\([0-9]*\\): cs:.*/\\1/p' /proc/drbd")
    return words(reported).map((minor) => `drbd minor ${minor}`)
  }
}

const words = (text: string): string[] => text.split(/\s+/).filter(Boolean)
