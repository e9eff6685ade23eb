// gnt-cluster destroy: a job gives the cluster up, then the last node removes its files.
import { OpClusterDestroy } from '../../opcodes/cluster'
import type { Call } from '../command'
import { EXIT } from '../outcome'
import { opcodeOf } from '../submit/submit'

export async function destroyCluster(call: Call): Promise<number> {
  const { options, terminal, clock } = call
  if (!options.flag('yes_do_it')) {
    terminal.err(
      'Destroying a cluster is irreversible. If you really want destroy this cluster, supply the --yes-do-it option.',
    )
    return EXIT.failure
  }
  const [{ forgetCluster }, node] = await Promise.all([import('../../bootstrap/destroy.js'), call.thisNode()])
  await call.jobs.run(opcodeOf(OpClusterDestroy, {}))
  for (const warning of await forgetCluster({ ...node, clock })) terminal.err(warning)
  return EXIT.ok
}
