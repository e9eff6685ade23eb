// Instance communication: the NIC over which an instance asks its node about itself, and the data for the node's metad.
import type { Cluster } from '../../model/config'
import { communicationNic, isCommunicationNic } from '../../model/constants/communication'
import { ECODE, OpPrereqError } from '../../model/errors'
import type { NicParams } from '../../opcodes/types'
import type { UnitContext } from '../unit-context'
import type { DeviceChange } from './parameters/device-changes'
import { dictOf, type InstanceView } from './view'

/** The NIC for communication, which a new instance gets in addition to the requested ones. */
export function communicationNics(cluster: Cluster, name: string, input: readonly NicParams[]): readonly NicParams[] {
  return input.some(({ name: one }) => one === communicationNic(name)) ? input : [...input, newNic(cluster, name)]
}

/** The change that switches communication on or off; undefined if nothing changes. */
export function communicationChange(
  { config, instance }: InstanceView,
  desired: boolean | undefined,
): DeviceChange<NicParams>[] {
  const there = instance.nics.find(isCommunicationNic)
  if (desired === undefined || desired === (there !== undefined)) return []
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
 * Sends the node the data that the instance may read. `secret` are the secret OS parameters of an installation; then
 * private ones are sent too. Without it the node keeps both as they are.
 */
export async function updateMetadata(
  ctx: UnitContext,
  view: InstanceView,
  secret?: Readonly<Record<string, string>>,
): Promise<void> {
  const { instance, primary } = view
  const { osparams_private, ...displayed } = dictOf(view)
  const hidden = secret === undefined ? {} : { osparams_private, osparams_secret: secret }
  const result = await ctx.nodes.attempt(primary, 'instance_metadata_modify', [{ ...displayed, ...hidden }])
  if (!result.ok) ctx.log.warning(`Could not update metadata for instance '${instance.name}': ${result.error}`)
}
