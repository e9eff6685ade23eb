// Learns at once when guests end without a request: they crash, or their users shut them down. One question stays open at each node with
// KVM guests. When it is answered, the node is looked at, which makes the event. There is a bound on open questions; other nodes are only
// looked at in their turn.
import { recordValues } from '../../config/records'
import type { Clock, Timer } from '../../lib/clock'
import type { Log } from '../../lib/log'
import { errorText } from '../../lib/system-failure'
import type { ConfigData, Node } from '../../model/config'
import type { NodeUuid } from '../../model/ids'
import { GUEST_ENDS_AGAIN_S, GUEST_ENDS_NODES_MAX, GUEST_ENDS_S } from '../../model/limits/live-data'
import { ConfigIndex } from '../../query/config-index'
import type { NodeClient } from '../../rpc/node/client'

interface Parts {
  readonly nodes: Pick<NodeClient, 'one'>
  readonly clock: Clock
  readonly log: Log
  config(): ConfigData
  /** Asks for a look at a node soon. */
  look(node: NodeUuid): void
}

export class GuestEnds {
  private readonly asked = new Set<NodeUuid>()
  private timer: Timer | undefined
  private closed = false

  constructor(private readonly parts: Parts) {}

  /** Repeated from time to time, because instances come and go. */
  start(): void {
    for (const { uuid } of this.wanted()) if (!this.asked.has(uuid)) void this.listen(uuid)
    this.timer = this.parts.clock.after(GUEST_ENDS_AGAIN_S * 1000, () => this.start(), { background: true })
  }

  close(): void {
    this.closed = true
    this.timer?.cancel()
  }

  private wanted(): Node[] {
    return this.closed ? [] : nodesWithGuests(this.parts.config()).slice(0, GUEST_ENDS_NODES_MAX)
  }

  /** Goes on while the node answers. A silent node is asked again in the next round. */
  private async listen(uuid: NodeUuid): Promise<void> {
    const { nodes, log, look } = this.parts
    this.asked.add(uuid)
    let known: readonly string[] = []
    try {
      for (let node = this.find(uuid); node !== undefined; node = this.find(uuid)) {
        const ended = await nodes.one(node, 'gantry_guest_ends', [GUEST_ENDS_S, known])
        if (ended.join() !== known.join()) look(uuid)
        known = ended
      }
    } catch (error) {
      log.debug({ node: uuid, reason: errorText(error) }, 'a node cannot report that its guests end')
    } finally {
      this.asked.delete(uuid)
    }
  }

  private find = (uuid: NodeUuid): Node | undefined => this.wanted().find((node) => node.uuid === uuid)
}

function nodesWithGuests(config: ConfigData): Node[] {
  if (!config.cluster.enabled_hypervisors.includes('kvm')) return []
  const index = ConfigIndex.of(config)
  const has = ({ uuid }: Node) =>
    index.primaryInstances(uuid).some((one) => one.hypervisor === 'kvm' && one.admin_state === 'up')
  return recordValues(config.nodes).filter((node) => !node.offline && node.vm_capable && has(node))
}
