// The questions that collectors ask confd about the configuration.
import { eachBounded } from '../lib/work/bounded'
import { errorText } from '../lib/system-failure'
import { CONFD_QUESTIONS_AT_ONCE } from '../model/limits/collectors'
import { CONFD } from '../rpc/confd/protocol'
import { CollectorFailure, type NodeSources, fieldsOf, listOf } from './report'

type Fields = Readonly<Record<string, unknown>>

export interface NodeInstances {
  readonly primary: readonly Fields[]
  readonly secondary: readonly Fields[]
}

/** The instances that exist on this node (not only planned ones). */
export async function nodeInstances(
  { ask, hostname }: NodeSources,
  failed = "Can't get instance info from ConfD",
): Promise<NodeInstances> {
  try {
    const [primary, secondary] = listOf(await ask(CONFD.nodeInstances, hostname))
    return { primary: real(primary), secondary: real(secondary) }
  } catch (error) {
    throw new CollectorFailure(`${failed}: ${errorText(error)}`)
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

/** The disks of each instance, or a text that says why they are unknown. */
export async function disksByInstance(
  { ask }: Pick<NodeSources, 'ask'>,
  names: readonly string[],
): Promise<ReadonlyMap<string, readonly Fields[] | string>> {
  const found = new Map<string, readonly Fields[] | string>()
  await eachBounded(names, CONFD_QUESTIONS_AT_ONCE, async (name) => {
    const disks = await ask(CONFD.instanceDisks, name).then((answer) => listOf(answer).map(fieldsOf), errorText)
    found.set(name, disks)
  })
  return found
}
