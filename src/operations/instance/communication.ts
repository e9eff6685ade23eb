// Instance communication: the NIC over which an instance asks its node about itself, and what the node's metad is told.
import type { Cluster } from '../../model/config'
import { communicationNic, isCommunicationNic } from '../../model/constants/communication'
import { ECODE, OpPrereqError } from '../../model/errors'
import type { NicParams } from '../../opcodes/types'
import type { UnitContext } from '../unit-context'
import type { DeviceChange } from './parameters/device-changes'
import { dictOf, type InstanceView } from './view'

/** The NIC that a new instance gets beside those that were asked for. */
export function communicationNics(cluster: Cluster, name: string, given: readonly NicParams[]): readonly NicParams[] {
  return given.some(({ name: one }) => one === communicationNic(name)) ? given : [...given, newNic(cluster, name)]
}

/** The change that switches communication on or off; none where it is so already. */
export function communicationChange(
  { config, instance }: InstanceView,
  wanted: boolean | undefined,
): DeviceChange<NicParams>[] {
  const there = instance.nics.find(isCommunicationNic)
  if (wanted === undefined || wanted === (there !== undefined)) return []
  if (there !== undefined) return [{ action: 'remove', at: there.uuid, params: {} }]
  return [{ action: 'add', at: -1, params: newNic(config.cluster, instance.name) }]
}

function newNic({ instance_communication_network: network }: Cluster, instanceName: string): NicParams {
  if (network !== '') return { name: communicationNic(instanceName), mac: 'generate', ip: 'pool', network }
  throw new OpPrereqError(
    "The cluster has no network for instance communication; give it one with 'gnt-cluster modify --instance-communication-network NAME'",
    ECODE.STATE,
  )
}

export const communicates = ({ instance }: Pick<InstanceView, 'instance'>): boolean =>
  instance.nics.some(isCommunicationNic)

/**
 * Tells the node what the instance may ask for. `secret` are the secret OS parameters of an installation, for which private ones are told,
 * too; otherwise both stay as the node has them.
 */
export async function updateMetadata(
  ctx: UnitContext,
  view: InstanceView,
  secret?: Readonly<Record<string, string>>,
): Promise<void> {
  const { instance, primary } = view
  const { osparams_private, ...shown } = dictOf(view)
  const hidden = secret === undefined ? {} : { osparams_private, osparams_secret: secret }
  const result = await ctx.nodes.attempt(primary, 'instance_metadata_modify', [{ ...shown, ...hidden }])
  if (!result.ok) ctx.log.warning(`Could not update metadata for instance '${instance.name}': ${result.error}`)
}
