// Nodes whose self-diagnosis says nothing, as the maintenance daemon has noted it: a fault of theirs would not be seen. Other checks look at
// clocks and connections.
import { MAINTENANCE, problemsOf, SELF_DIAGNOSIS } from '../../../model/maintenance'
import type { GroupState } from './group-state'
import type { VerifyReport } from './report'

export function verifyDiagnoses(report: VerifyReport, { nodes, maintenance }: GroupState): void {
  const problems = problemsOf({ sections: { [MAINTENANCE.rounds]: maintenance } })
  for (const { name, offline } of nodes) {
    const problem = problems[name]
    if (problem?.startsWith(SELF_DIAGNOSIS) === true && !offline)
      report.error('ENODEUSERSCRIPTS', name, `a fault of the node would not be seen: ${problem}`, 'WARNING')
  }
}
