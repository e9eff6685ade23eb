// Keeps copies of the configuration: complete on the master candidates, and its ssconf values on every node. A change
// is acknowledged when every candidate in sync has it; ssconf follows in the background.
import { change } from '../config/changes'
import { COPY_NOTES, noting } from '../config/copy-notes'
import type { ConfigStore, Delta } from '../config/store'
import { masterCandidates } from '../config/lookup'
import { seconds, within, type Clock } from '../lib/clock'
import type { Log } from '../lib/log'
import type { Paths } from '../lib/paths'
import type { ConfigData } from '../model/config'
import type { NodeUuid } from '../model/ids'
import { CANDIDATE_CALL_S } from '../model/limits/replication'
import type { NodeClient, NodeTarget } from '../rpc/node/client'
import type { ReplicaStatus } from '../rpc/wconfd/calls'
import { CandidateCopy } from './candidate-copy'
import { SsconfDistribution } from './ssconf-distribution'

export interface ReplicationOptions {
  nodes: NodeClient
  clock: Clock
  log: Log
  paths: Pick<Paths, 'configFile' | 'hostname'>
  store: Pick<ConfigStore, 'current' | 'documents' | 'gantry' | 'texts' | 'change' | 'addReplica' | 'subscribe'>
}

/** Resolves when the reachable candidates have a full copy, but waits no longer than for a change. */
export async function openReplication(options: ReplicationOptions): Promise<Replication> {
  const replication = new Replication(options)
  void replication.ssconf.request()
  await within(options.clock, CANDIDATE_CALL_S, replication.catchUp())
  return replication
}

export class Replication {
  readonly ssconf: SsconfDistribution
  private readonly copies = new Map<NodeUuid, CandidateCopy>()
  private readonly stops: (() => void)[]

  constructor(private readonly options: ReplicationOptions) {
    const { store } = options
    this.ssconf = new SsconfDistribution(options)
    this.stops = [
      store.addReplica((data, kind) => this.replicate(data, kind)),
      store.subscribe((delta, { config }) => this.changed(delta, config)),
    ]
    this.setCandidates(store.current())
  }

  status(): ReplicaStatus[] {
    return [...this.copies.values()].map((copy) => copy.status())
  }

  async catchUp(): Promise<void> {
    await Promise.all([...this.copies.values()].map((copy) => copy.catchUp()))
  }

  /** Sends everything to all nodes, and waits for those that answer. */
  async flush(): Promise<void> {
    this.ssconf.forget()
    await within(this.options.clock, CANDIDATE_CALL_S, Promise.all([this.catchUp(), this.ssconf.request()]))
  }

  close(): void {
    for (const stop of this.stops) stop()
    for (const copy of this.copies.values()) copy.close()
    this.ssconf.close()
  }

  private async replicate(data: Buffer, kind: 'journal' | 'checkpoint'): Promise<void> {
    const copies = [...this.copies.values()]
    if (kind === 'checkpoint') {
      await Promise.all(copies.map((copy) => copy.checkpoint(data)))
      return
    }
    await Promise.all(copies.map((copy) => copy.append(data)))
  }

  private changed(delta: Delta, config: ConfigData): void {
    this.ssconf.changed(delta, config)
    if (delta.nodes === undefined && delta.cluster?.['master_node'] === undefined) return
    for (const copy of this.setCandidates(config)) void copy.catchUp()
  }

  /** Nobody waits for it: a change may wait for the very candidate. */
  private readonly note = (node: string, text: string): void => {
    const { store, clock, log } = this.options
    const values = noting(store.gantry(), { time: seconds(clock), node, text })
    store
      .change(values.map(([key, note]) => change('setGantry', COPY_NOTES, key, note)))
      .catch((error: unknown) => log.error({ node, text, err: error }, 'not noted'))
  }

  /** Returns the new candidates. */
  private setCandidates(config: ConfigData): CandidateCopy[] {
    const { store, nodes, clock, log, paths } = this.options
    const desired = masterCandidates(config).filter(
      ({ uuid, name, offline }) => uuid !== config.cluster.master_node && name !== paths.hostname && !offline,
    )
    const targets = new Map<NodeUuid, NodeTarget>(desired.map((node) => [node.uuid, node]))
    for (const [uuid, copy] of this.copies) {
      if (targets.has(uuid)) continue
      copy.close()
      this.copies.delete(uuid)
    }
    const added: CandidateCopy[] = []
    for (const [uuid, { name, primary_ip, offline }] of targets) {
      const target = { uuid, name, primary_ip, offline }
      const known = this.copies.get(uuid)
      if (known) known.target = target
      else {
        const source = { texts: () => store.texts(), documents: () => store.documents() }
        const copy = new CandidateCopy(target, { nodes, clock, log, paths, note: this.note, ...source })
        this.copies.set(uuid, copy)
        added.push(copy)
      }
    }
    return added
  }
}
