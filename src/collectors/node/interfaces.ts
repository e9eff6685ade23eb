// The node's network interfaces.
import { INTERFACES_TOLD_MAX } from '../../model/limits/collectors'
import { type NodeSources, readIfThere } from '../report'

const COUNTERS = [
  'rx_bytes',
  'rx_packets',
  'rx_errors',
  'rx_dropped',
  'tx_bytes',
  'tx_packets',
  'tx_errors',
  'tx_dropped',
]

export async function interfaces(sources: NodeSources) {
  const names = (await sources.list('/sys/class/net')).slice(0, INTERFACES_TOLD_MAX)
  return Promise.all(names.map((name) => interfaceOf(sources, name)))
}

async function interfaceOf(sources: NodeSources, name: string) {
  const of = async (file: string) =>
    (await readIfThere(sources, `/sys/class/net/${name}/${file}`).catch(() => undefined))?.trim() ?? ''
  // Interfaces that are down or have no speed refuse to tell it, or report -1.
  const speed = Number(await of('speed'))
  const counters = await Promise.all(COUNTERS.map(async (one) => [one, Number(await of(`statistics/${one}`))] as const))
  return {
    ...{ name, state: await of('operstate'), address: await of('address'), mtu: Number(await of('mtu')) },
    speed_mbit: speed > 0 ? speed : null,
    counters: Object.fromEntries(counters),
  }
}
