// gnt-cluster master-failover: the only command that runs on a node other than the master.
import type { Call } from '../command'
import { EXIT } from '../outcome'
import { confirm } from '../input/confirm'
import { oYesDoItAnyway } from '../input/options'

export async function failOverMaster(call: Call): Promise<number> {
  const { options, terminal, clock } = call
  const noVoting = options.flag('no_voting')
  if (noVoting) {
    const question =
      'This will perform the failover even if most other nodes are down, or if this node is outdated. This is dangerous ' +
      'as it can lead to a non-consistent cluster. Check the gnt-cluster(8) man page before proceeding. Continue?'
    if (!(await confirm(call, question, oYesDoItAnyway))) return EXIT.failure
  }
  // Only this command loads it, so no other waits for it.
  const [{ majorityHealthy, masterFailover, surveyNodes }, node] = await Promise.all([
    import('../../bootstrap/failover.js'),
    call.thisNode(),
  ])
  const survey = await surveyNodes({ ...node, clock })
  if (!noVoting) {
    const { healthy, silent } = majorityHealthy(survey, options.flag('ignore_offline_nodes'))
    if (!healthy) {
      terminal.err(
        'Master-failover with voting is only possible if the majority of nodes are still healthy; use the --no-voting option ' +
          `after ensuring by other means that you won't end up in a dual-master scenario. Unhealthy nodes: ${silent.join(', ')}`,
      )
      return EXIT.failure
    }
  }
  const { ok, warnings } = await masterFailover({ ...node, clock, noVoting }, survey)
  for (const warning of warnings) terminal.err(warning)
  return ok ? EXIT.ok : EXIT.failure
}
