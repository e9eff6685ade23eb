// Temporary reservations: values that a job has picked and not yet written into the configuration. Nobody else gets the
// same MAC address, volume name, DRBD minor or network address. A client's reservations end with it. They are stored in
// tempres.data, in Ganeti's format.
import { firstFreeAddress, isInNetwork, ownerOf } from './addresses'
import type { Delta } from './delta'
import { disksOnNode, drbdId, instancesWithMac, isSecretUsed, isVolumeUsed } from './lookup'
import { recordValues } from './records'
import type { Random } from '../lib/random'
import type { ConfigData, Network } from '../model/config'
import { DRBD_SECRET_BYTES } from '../model/constants/disks'
import { ReservationError } from '../model/errors'
import { GENERATE_TRIES_MAX } from '../model/limits/config'
import type { ClientId } from '../model/lock'
import { ReservationPool } from './reservation-pool'

export type IpAction = readonly [action: 'reserve' | 'release', ip: string, network: string]

/** The form in the file: maps are lists of pairs. */
export interface SavedReservations {
  readonly dRBD: readonly (readonly [node: string, minors: readonly (readonly [minor: number, disk: string])[]])[]
  readonly mACs: readonly (readonly [ClientId, readonly string[]])[]
  readonly dRBDSecrets: readonly (readonly [ClientId, readonly string[]])[]
  readonly lVs: readonly (readonly [ClientId, readonly string[]])[]
  readonly iPv4s: readonly (readonly [ClientId, readonly IpAction[]])[]
  /** Ours: the disks for which clients have reserved minors. Missing if empty. */
  readonly gantryMinorsOf?: readonly (readonly [ClientId, readonly string[]])[]
}

export class Reservations {
  /**
   * By node, then minor: the disk that will get it. As in Ganeti, minors that were reserved without a client stay until
   * they are released.
   */
  private readonly minors = new Map<string, Map<number, string>>()
  /** By disk: the nodes on which it has reserved minors. */
  private readonly nodesOf = new Map<string, Set<string>>()
  /** Disks whose reserved minors end with a client. */
  private readonly minorsOf = new ReservationPool((disk: string) => disk)
  private readonly macs = new ReservationPool((mac: string) => mac)
  private readonly secrets = new ReservationPool((secret: string) => secret)
  private readonly volumes = new ReservationPool((volume: string) => volume)
  private readonly ips = new ReservationPool((action: IpAction) => action.join(' '))

  constructor(
    private readonly config: () => ConfigData,
    private readonly random: Random,
  ) {}

  /** Loads tempres.data. */
  load(saved: SavedReservations): void {
    for (const [node, minors] of saved.dRBD) for (const [minor, disk] of minors) this.noteMinor(node, minor, disk)
    for (const [client, values] of saved.mACs) for (const mac of values) this.macs.reserve(client, mac)
    for (const [client, values] of saved.dRBDSecrets) for (const secret of values) this.secrets.reserve(client, secret)
    for (const [client, values] of saved.lVs) for (const volume of values) this.volumes.reserve(client, volume)
    for (const [client, values] of saved.iPv4s) for (const action of values) this.ips.reserve(client, action)
    for (const [client, disks] of saved.gantryMinorsOf ?? [])
      for (const disk of disks) this.minorsOf.reserve(client, disk)
  }

  encode(): string {
    const dRBD = [...this.minors].map(([node, minors]) => [node, [...minors]])
    const { macs: mACs, secrets: dRBDSecrets, volumes: lVs, ips: iPv4s } = this
    const gantryMinorsOf = this.minorsOf.toJSON()
    return JSON.stringify({ dRBD, mACs, dRBDSecrets, lVs, iPv4s, ...(gantryMinorsOf.length > 0 && { gantryMinorsOf }) })
  }

  owners(): ClientId[] {
    return this.pools.flatMap((pool) => pool.owners())
  }

  /** Returns whether there was anything to drop. */
  drop(client: ClientId): boolean {
    for (const disk of this.minorsOf.of(client)) this.releaseMinors(disk)
    return this.pools.map((pool) => pool.drop(client)).includes(true)
  }

  private get pools() {
    return [this.macs, this.secrets, this.volumes, this.ips, this.minorsOf]
  }

  reserveMac(client: ClientId, mac: string): void {
    const desired = mac.toLowerCase()
    if (this.isMacUsed(desired)) throw new ReservationError('MAC already in use')
    this.macs.reserve(client, desired)
  }

  generateMac(client: ClientId, network: string | null): string {
    const prefix = (network === null ? null : this.network(network).mac_prefix) ?? this.config().cluster.mac_prefix
    const random = () => `${prefix}:${this.random.hex(3).replace(/..(?=.)/g, '$&:')}`.toLowerCase()
    return this.macs.reserve(
      client,
      this.generate(random, (mac) => this.macs.has(mac) || this.isMacUsed(mac)),
    )
  }

  generateSecret(client: ClientId): string {
    const random = () => this.random.hex(DRBD_SECRET_BYTES)
    return this.secrets.reserve(
      client,
      this.generate(random, (secret) => this.secrets.has(secret) || isSecretUsed(this.config(), secret)),
    )
  }

  reserveVolume(client: ClientId, volume: string): void {
    if (isVolumeUsed(this.config(), volume)) throw new ReservationError('LV already in use')
    this.volumes.reserve(client, volume)
  }

  reserveIp(client: ClientId, network: string, ip: string, checkExternal: boolean): void {
    const found = this.network(network)
    if (!isInNetwork(found, ip)) throw new ReservationError(`Address ${ip} is not in network ${found.name}`)
    const owner = ownerOf(this.config(), found, ip)
    if (owner === 'an instance') throw new ReservationError('IP address already in use')
    if (checkExternal && owner !== undefined) throw new ReservationError('IP is externally reserved')
    this.ips.reserve(client, ['reserve', ip, network])
  }

  releaseIp(client: ClientId, network: string, ip: string): void {
    this.ips.reserve(client, ['release', ip, network])
  }

  generateIp(client: ClientId, network: string): string {
    const taken = new Set(this.ips.all().flatMap(([, ip, where]) => (where === network ? [ip] : [])))
    const ip = firstFreeAddress(this.network(network), taken)
    if (ip === undefined) throw new ReservationError('Cannot generate IP. Network is full')
    this.ips.reserve(client, ['reserve', ip, network])
    return ip
  }

  ipsOf(client: ClientId): IpAction[] {
    return this.ips.of(client)
  }

  /** Minors in use by node, including reserved ones; every node is listed. */
  drbdMap(): [node: string, minors: [minor: number, disk: string][]][] {
    const nodes = new Set([...recordValues(this.config().nodes).map(({ uuid }): string => uuid), ...this.minors.keys()])
    return [...nodes].map((node) => [node, [...this.minorsOn(node)].sort(([a], [b]) => a - b)])
  }

  /** Those of one node, with their disks. */
  private minorsOn(node: string): Map<number, string> {
    const minors = new Map(this.minors.get(node))
    for (const disk of disksOnNode(this.config(), node)) {
      const id = drbdId(disk)
      if (id === undefined) continue
      for (const [there, minor] of [[id.nodeA, id.minorA] as const, [id.nodeB, id.minorB] as const]) {
        if (there !== node) continue
        const other = minors.get(minor)
        if (other !== undefined && other !== disk.uuid)
          throw new ReservationError(`Duplicate DRBD minor ${minor} on node ${node}: disks ${other} and ${disk.uuid}`)
        minors.set(minor, disk.uuid)
      }
    }
    return minors
  }

  /** The lowest free minor of each node; a node named twice gets two. */
  allocateMinors(disk: string, nodes: readonly string[]): number[] {
    const used = new Map(nodes.map((node) => [node, this.minorsOn(node)]))
    const stranger = nodes.find((node) => this.config().nodes[node] === undefined)
    if (stranger !== undefined) throw new ReservationError(`There is no node ${stranger}`)
    return nodes.map((node) => {
      const taken = used.get(node) ?? new Map<number, string>()
      let minor = 0
      while (taken.has(minor)) minor++
      taken.set(minor, disk)
      this.noteMinor(node, minor, disk)
      return minor
    })
  }

  /** The same, but only until they are in the configuration or the client ends. */
  allocateMinorsFor(client: ClientId, disk: string, nodes: readonly string[]): number[] {
    const minors = this.allocateMinors(disk, nodes)
    if (!this.minorsOf.has(disk)) this.minorsOf.reserve(client, disk)
    return minors
  }

  /** Returns whether there was anything to release. */
  releaseMinors(disk: string): boolean {
    const nodes = this.nodesOf.get(disk) ?? []
    for (const node of nodes) {
      const minors = this.minors.get(node) ?? new Map<number, string>()
      for (const [minor, owner] of minors) if (owner === disk) minors.delete(minor)
      if (minors.size === 0) this.minors.delete(node)
    }
    return this.nodesOf.delete(disk)
  }

  private noteMinor(node: string, minor: number, disk: string): void {
    const minors = this.minors.get(node) ?? new Map<number, string>()
    this.minors.set(node, minors.set(minor, disk))
    this.nodesOf.set(disk, (this.nodesOf.get(disk) ?? new Set()).add(node))
  }

  /** Drops reservations of minors that are in the configuration now. Returns whether there were any. */
  settle(delta: Delta): boolean {
    if (this.minors.size === 0) return false
    return Object.keys(delta.disks ?? {})
      .map((disk) => this.releaseMinors(disk))
      .includes(true)
  }

  private generate(random: () => string, isUsed: (value: string) => boolean): string {
    for (let tries = 0; tries < GENERATE_TRIES_MAX; tries++) {
      const value = random()
      if (!isUsed(value)) return value
    }
    throw new ReservationError('Not able to generate a new resource: all that were tried are in use')
  }

  private isMacUsed(mac: string): boolean {
    return instancesWithMac(this.config(), mac).length > 0
  }

  private network(uuid: string): Network {
    const network = this.config().networks[uuid]
    if (network === undefined) throw new ReservationError(`Network '${uuid}' not found`)
    return network
  }
}
