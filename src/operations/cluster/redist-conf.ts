// OP_CLUSTER_REDIST_CONF: sends all nodes the files that they share.
import { recordValues } from '../../config/records'
import { OpClusterRedistConf } from '../../opcodes/cluster'
import { all, logicalUnit, shared } from '../logical-unit'
import { sendAncillaryFiles } from './ancillary-files'

export const clusterRedistConf = logicalUnit(OpClusterRedistConf, {
  locks: () => ({ node: shared(all) }),
  check: (ctx) => ctx.config.read({ nodes: 'all' }),
  async run(ctx, _op, { nodes }) {
    await ctx.env.wconfd.flushConfig()
    await sendAncillaryFiles(ctx, recordValues(nodes))
    return null
  },
})
