// What to do about volumes that are missing. No command that is named here deletes the only copy of anything.
import { instanceDisks } from '../../../config/lookup'
import type { Disk, Instance } from '../../../model/config'
import { DATA, META, REPLACED } from '../../instance/disks/volume-names'
import type { GroupState, NodeImage } from './group-state'
import { renaming } from './node-commands'
import { isNamedLike, reasonToKeep, wantedVolumes } from './only-copies'

/** A volume that is part of a disk. */
export interface Part {
  readonly vg: string
  readonly lv: string
  readonly disk: Disk
  readonly nodes: readonly string[]
  /** The volume is part of a mirror. A guest does not use it directly. */
  readonly isInside: boolean
}

export interface Unknown {
  readonly image: NodeImage
  readonly volume: string
}

/** Finds the ways for one instance: `parts` are all that it consists of, `unknown` the volumes without owner. */
export class WaysBack {
  constructor(
    private readonly state: GroupState,
    private readonly instance: Instance,
    private readonly parts: readonly Part[],
    private readonly unknown: () => readonly Unknown[],
  ) {}

  /** `volumes` are those of the node that lacks it. */
  of(part: Part, { image, volumes }: { image: NodeImage; volumes: ReadonlyMap<string, unknown> }): string {
    const { vg, lv } = part
    const anew = anewOn(image.node.uuid, this.instance, this.rootOf(part.disk))
    const former = DATA.test(lv) ? lv.replace(DATA, '') : `${lv}_data`
    if (volumes.has(`${vg}/${former}`))
      return `; a conversion that did not end has renamed it: '${renaming(image, vg, former, lv)}' gives it its name back there`
    if ([...volumes.keys()].some((name) => name.replace(REPLACED, '') === `${vg}/${lv}`))
      return `; an interrupted replacement of disks has renamed it: ${anew} makes that side again`
    if (part.isInside && this.isElsewhere(part, image)) return `; ${anew} makes that side again`
    return this.ofLost(part)
  }

  /** Whether another side of the mirror has its data. */
  private isElsewhere(part: Part, { node }: NodeImage): boolean {
    const data = this.dataOf(this.rootOf(part.disk))
    return part.nodes.some((uuid) => uuid !== node.uuid && data.every((one) => this.has(uuid, one) === true))
  }

  /** A disk that no node has. It is not made again while a volume without owner may have its data. */
  private ofLost({ disk }: Part): string {
    const { name } = this.instance
    const index = this.rootOf(disk)
    if (!this.dataOf(index).every(this.isLost)) return ''
    const unknown = this.unknown()
    const desired = wantedVolumes(this.state.config)
    const isSuspect = ({ image, volume }: Unknown) =>
      reasonToKeep(desired, [...this.state.images, ...this.state.holders], image, volume) !== undefined
    const all = this.dataOf()
    const isNamed = ({ volume }: Unknown) => all.some(({ vg, lv }) => isNamedLike(volume, `${vg}/${lv}`))
    return waysOfLost(name, index, {
      isEverything: all.every(this.isLost),
      isNamed: unknown.some(isNamed),
      isSuspected: unknown.some(isSuspect),
    })
  }

  private dataOf(index?: number): readonly Part[] {
    const data = this.parts.filter(({ lv }) => !META.test(lv))
    return index === undefined ? data : data.filter(({ disk }) => this.rootOf(disk) === index)
  }

  private readonly isLost = (part: Part): boolean => part.nodes.every((uuid) => this.has(uuid, part) === false)

  /** The number of the instance's disk that this disk is or belongs to. */
  rootOf(disk: Disk): number {
    const within = (one: Disk): boolean => one === disk || one.children.some(within)
    return instanceDisks(this.state.config, this.instance).findIndex(within)
  }

  /** Undefined if the node did not tell. */
  private has(node: string, { vg, lv }: Part): boolean | undefined {
    return this.state.images.find((image) => image.node.uuid === node)?.volumes?.has(`${vg}/${lv}`)
  }
}

interface Lost {
  /** The instance has no other disk. */
  readonly isEverything: boolean
  /** Something without owner has a name like one of its disks. */
  readonly isNamed: boolean
  /** Something without owner may be a disk that is missing. */
  readonly isSuspected: boolean
}

export function waysOfLost(name: string, index: number, { isEverything, isNamed, isSuspected }: Lost): string {
  const end = `; if its removal did not end, 'gnt-instance remove ${name}' ends it`
  const again = `; if its data is lost, 'gnt-instance recreate-disks --disk=${index} ${name}' makes disk/${index} again, empty`
  return `${isEverything && !isNamed ? end : ''}${isSuspected ? '' : again}`
}

/** The command that makes new volumes for one side of a disk. Another disk may have lost its other side. */
export function anewOn(node: string, { name, primary_node, disks }: Instance, index: number): string {
  const only = disks.length > 1 ? ` --disks=${index}` : ''
  return `'gnt-instance replace-disks ${node === primary_node ? '-p' : '-s'}${only} ${name}'`
}
