// What tests say of instances on real volumes and mirrors: made, written, read, and looked at as the kernels of the nodes tell of them.
import { type Machines, PATIENCE_S, nameOf } from './machines'

/** So many blocks are written, of this size. */
const [BLOCKS, BYTES] = [20, 102400]

/** Their numbers: the primary node, and the secondary one of a mirror. */
export type Sides = readonly [primary: number, secondary?: number]

export class Mirrors {
  constructor(private readonly machines: Machines) {}

  /** The words that make an instance. */
  adding(name: string, template: string, sides: Sides, size: string, ...options: string[]): string[] {
    const nodes = sides.flatMap((node) => (node === undefined ? [] : nameOf(node)))
    return [
      ...['instance', 'add', '-t', template, '--disk', `0:size=${size}`, '-n', nodes.join(':'), '-o', 'gantry-tiny'],
      ...['--no-nics', '--no-start', '-B', 'memory=16', ...options, name],
    ]
  }

  add = (...input: Parameters<Mirrors['adding']>): Promise<string> => this.machines.gnt(...this.adding(...input))

  /** Activates the disk of an instance, and answers with its device on the primary node. */
  async device(name: string, ...options: string[]): Promise<string> {
    const reported = await this.machines.gnt('instance', 'activate-disks', ...options, name)
    const [, device] = /:disk\/0:(\/\S+)/.exec(reported) ?? []
    if (device === undefined) throw new Error(`activate-disks of ${name} names no device: ${reported}`)
    return device
  }

  /** Answers with the checksum of what is there then. */
  async write(node: number, device: string): Promise<string> {
    const make = `head -c ${BLOCKS * BYTES} /dev/urandom > /run/data`
    const copy = `dd if=/run/data of=${device} bs=${BYTES} oflag=direct conv=notrunc,fsync 2> /dev/null`
    return (await this.machines.inGuest(node, `${make} && ${copy} && sha1sum < /run/data`)).trim()
  }

  /** The checksum of what the device has, not of what the node remembers of it. */
  async read(node: number, device: string): Promise<string> {
    const copy = `dd if=${device} bs=${BYTES} count=${BLOCKS} iflag=direct 2> /dev/null`
    return (await this.machines.inGuest(node, `${copy} | sha1sum`)).trim()
  }

  /** The volumes of an instance that a node has. */
  async volumes(node: number, name: string): Promise<string[]> {
    const reported = await this.machines.inGuest(node, `lvs --noheadings -o lv_name -S 'lv_tags=originstname+${name}'`)
    return reported.trim().split(/\s+/).filter(Boolean)
  }

  /** The nodes of a mirrored instance. */
  async sides(name: string): Promise<readonly [primary: number, secondary: number]> {
    const reported = await this.machines.gnt('instance', 'list', '--no-headers', '-o', 'pnode,snodes', name)
    const [primary = 0, secondary = 0] = Array.from(reported.matchAll(/node(\d)/g), ([, digit]) => Number(digit))
    return [primary, secondary]
  }

  /** Both sides of the only mirror of these nodes, as the kernel of each side tells of it. */
  async expectInSync([primary, secondary = 0]: Sides): Promise<void> {
    const is = (roles: string) => `*' cs:Connected ro:${roles} ds:UpToDate/UpToDate C '*`
    await this.tells(primary, is('Primary/Secondary'))
    await this.tells(secondary, is('Secondary/Primary'))
  }

  /** The kernel of the node has noticed that the other side of its only mirror is gone. */
  async isAlone(node: number): Promise<void> {
    await this.tells(node, "*' cs:'@(WFConnection|StandAlone)' '*")
  }

  /** The only mirror of the node, which is used, is being copied to the other side. */
  async isSource(node: number): Promise<void> {
    await this.tells(node, "*' cs:SyncSource ro:Primary/Secondary ds:UpToDate/Inconsistent C '*")
  }

  /** Cuts the connection of the only mirror of a node. */
  async part(node: number): Promise<void> {
    const addresses = "drbdsetup show 0 | tac | sed -n 's/.*address.*ipv4 \\([0-9.:]*\\);.*/ipv4:\\1/p'"
    await this.machines.inGuest(node, `drbdsetup disconnect $(${addresses})`)
  }

  /** Waits until the kernel tells of the only mirror of a node as a pattern of the shell says. The node itself waits: each login costs it. */
  private async tells(node: number, desired: string): Promise<void> {
    const look = `told=$(grep ' cs:' /proc/drbd); [[ $told != *$'\\n'* && $told == ${desired} ]]`
    const late = `((SECONDS < ${PATIENCE_S / 2})) || { echo "$told"; exit 1; }`
    await this.machines.inGuest(node, `until ${look}; do ${late}; sleep 0.5; done`).catch((error: unknown) => {
      throw new Error(`the mirrors of ${nameOf(node)} are not as wanted: ${String(error)}`)
    })
  }
}
