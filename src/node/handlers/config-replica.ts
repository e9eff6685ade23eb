// Node calls by which the master keeps the configuration on master candidates.
import { ConfigurationError } from '../../model/errors'
import { fail, type ConfigReplica, type Handlers, type NodeContext } from '../context'

export const configReplicaHandlers = {
  async gantry_config_append(context, records) {
    await answer(replicaOf(context).append(records))
    return null
  },

  async gantry_config_replace(context, config, gantry) {
    await answer(replicaOf(context).replace(config, gantry))
    return null
  },
} satisfies Partial<Handlers>

const replicaOf = ({ configReplica }: NodeContext): ConfigReplica =>
  configReplica ?? fail('This node keeps no copy of the configuration')

/** Records that do not fit are no bug: the master sends a full copy then. */
async function answer(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (error instanceof ConfigurationError) fail(error.message)
    throw error
  }
}
