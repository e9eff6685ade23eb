// What collectors ask the configuration, by way of confd.
import { errorText } from '../lib/system-failure'
import { CONFD } from '../rpc/confd/protocol'
import { CollectorFailure, type NodeSources, fieldsOf, listOf } from './report'

type Fields = Readonly<Record<string, unknown>>

export interface NodeInstances {
  readonly primary: readonly Fields[]
  readonly secondary: readonly Fields[]
}

/** The instances of this node that are more than planned. */
export async function nodeInstances({ ask, hostname }: NodeSources): Promise<NodeInstances> {
  try {
    const [primary, secondary] = listOf(await ask(CONFD.nodeInstances, hostname))
    return { primary: real(primary), secondary: real(secondary) }
  } catch (error) {
    throw new CollectorFailure(`Can't get instance info from ConfD: ${errorText(error)}`)
  }
}

const real = (instances: unknown): Fields[] =>
  listOf(instances)
    .map(fieldsOf)
    .filter(({ forthcoming }) => forthcoming !== true)

/** A value of the configuration, by its path. */
export async function configured({ ask }: NodeSources, pointer: string): Promise<unknown> {
  try {
    return await ask(CONFD.configQuery, pointer)
  } catch (error) {
    throw new CollectorFailure(`Can't get ${pointer} from ConfD: ${errorText(error)}`)
  }
}
