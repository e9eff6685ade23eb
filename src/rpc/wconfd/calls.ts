// The calls of wconfd (spec: wconfd.json): Ganeti's lock and reservation calls, and ours (they begin with `gantry`), which
// replace Ganeti's read-modify-write of whole objects by named changes and slices.
import type { ConfigData } from '../../model/config'
import type { ClientId, LockLevel, LockMode, LockName, LockRequest } from '../../model/lock'

export type { ClientId, LockLevel, LockMode, LockName, LockRequest } from '../../model/lock'

/** Objects to read, by name or uuid. The slice holds them and what they refer to (see config/slice.ts), and the cluster. */
export interface Selector {
  instances?: readonly string[] | 'all'
  nodes?: readonly string[] | 'all'
  groups?: readonly string[] | 'all'
  networks?: readonly string[] | 'all'
  disks?: readonly string[] | 'all'
}

/** A named pure change of config/changes.ts with its arguments. */
export type NamedChange = [name: string, ...args: unknown[]]

export interface ReplicaStatus {
  node: string
  name: string
  /** `checkpoints`: runs Ganeti's noded, which takes config.data as a whole, a moment later. */
  state: 'in sync' | 'out of sync' | 'checkpoints'
  /** Why it is out of sync. */
  reason: string | null
}

export interface Wconfd {
  echo(text: string): Promise<string>
  readConfig(): Promise<ConfigData>
  /** A ConfigData with only the selected objects; a name that does not exist is simply absent. */
  gantryRead(selector: Selector): Promise<ConfigData>
  /** The values of a section of gantry.data by their keys; empty when there is none. */
  gantrySection(section: string): Promise<Readonly<Record<string, unknown>>>
  /**
   * Applies the changes in order as one durable, replicated step; returns each change's result.
   * `epoch` is the owner's lock epoch (see gantryAcquire); a wrong one is refused, null is for daemons that hold no locks.
   */
  gantryChange(client: ClientId, epoch: number | null, changes: readonly NamedChange[]): Promise<unknown[]>
  /**
   * Waits until the whole request is granted. Rejects with LockError when it is taken back, or after `timeout_s` with a text that
   * names the holders. A request whose connection breaks is taken back. The epoch is good until the owner's last lock is gone.
   */
  gantryAcquire(
    client: ClientId,
    priority: number,
    request: readonly LockRequest[],
    timeout_s: number | null,
  ): Promise<{ epoch: number }>
  /** Takes back a waiting request of this client. */
  gantryCancelRequest(client: ClientId): Promise<null>
  /** Nobody else needs to find out: the owner's process has ended. Frees its locks, requests and reservations;
   *  answers the locks by the names that people know. */
  gantryOwnerDied(client: ClientId): Promise<[title: string, LockMode][]>
  /** What this client's waiting request waits for, and who has it since when: what a waiting job logs. `title` is
   *  the lock by the name that people know. */
  gantryBlockers(
    client: ClientId,
  ): Promise<{ lock: LockName; title: string; holders: { client: ClientId; mode: LockMode; since: number }[] }[]>
  tryUpdateLocks(client: ClientId, request: readonly LockRequest[]): Promise<ClientId[]>
  updateLocksWaiting(client: ClientId, priority: number, request: readonly LockRequest[]): Promise<ClientId[]>
  freeLocks(client: ClientId): Promise<null>
  /** Locks and reservations, in one step: what an opcode needs at its end. */
  gantryFreeAll(client: ClientId): Promise<null>
  freeLocksLevel(client: ClientId, level: LockLevel): Promise<null>
  downGradeLocksLevel(client: ClientId, level: LockLevel): Promise<null>
  intersectLocks(client: ClientId, locks: readonly LockName[]): Promise<null>
  opportunisticLockUnion(client: ClientId, locks: readonly [LockName, LockMode][]): Promise<LockName[]>
  guardedOpportunisticLockUnion(
    count: number,
    client: ClientId,
    locks: readonly [LockName, LockMode][],
  ): Promise<LockName[]>
  hasPendingRequest(client: ClientId): Promise<boolean>
  listLocks(client: ClientId): Promise<[LockName, LockMode][]>
  listAllLocks(): Promise<LockName[]>
  listAllLocksOwners(): Promise<[LockName, [ClientId, LockMode][]][]>
  listLocksWaitingStatus(): Promise<[[LockName, [ClientId, LockMode][]][], [number, ClientId, LockRequest[]][]]>
  cleanupLocks(): Promise<null>
  verifyConfig(): Promise<null>
  /** Sends the whole configuration to the candidates and ssconf to all nodes, and waits for those that answer. */
  flushConfig(): Promise<null>
  /** Which master candidates have everything: `gnt cluster verify` names the others. */
  gantryReplicas(): Promise<ReplicaStatus[]>
  /** The measurements of wconfd, as prom-client's JSON. */
  gantryMetrics(): Promise<unknown[]>
  dropAllReservations(client: ClientId): Promise<null>
  reserveMAC(client: ClientId, mac: string): Promise<null>
  generateMAC(client: ClientId, network: string | null): Promise<string>
  generateDRBDSecret(client: ClientId): Promise<string>
  reserveLV(client: ClientId, lv: string): Promise<null>
  reserveIp(client: ClientId, network: string, ip: string, checkExternal: boolean): Promise<null>
  releaseIp(client: ClientId, network: string, ip: string): Promise<null>
  generateIp(client: ClientId, network: string): Promise<string>
  commitTemporaryIps(client: ClientId): Promise<null>
  commitReleaseTemporaryIp(network: string, ip: string): Promise<null>
  listReservedIps(client: ClientId): Promise<['reserve' | 'release', ip: string, network: string][]>
  computeDRBDMap(): Promise<[string, [number, string][]][]>
  allocateDRBDMinor(disk: string, nodes: readonly string[]): Promise<number[]>
  releaseDRBDMinors(disk: string): Promise<null>
  allocatePort(): Promise<number>
}
