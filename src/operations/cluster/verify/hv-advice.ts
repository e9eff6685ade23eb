// Advice about the cluster's own hypervisor parameters. None of it is an error.
import { fillHvParams } from '../../../config/filled'
import type { ConfigData } from '../../../model/config'
import { adviceOn } from '../../../model/hv-advice'
import type { VerifyReport } from './report'

export function assessHvParams(report: VerifyReport, { cluster }: ConfigData): void {
  report.say('* Assessing cluster hypervisor parameters')
  for (const hypervisor of cluster.enabled_hypervisors) {
    const advice = adviceOn(hypervisor, fillHvParams(cluster, { hypervisor, os: '', hvparams: {} }))
    for (const line of advice) report.note(line)
    if (advice.length > 0)
      report.note(
        `Change them with 'gnt-cluster modify -H ${hypervisor}:PARAMETER=VALUE'; the gnt-instance man page of Ganeti explains each`,
      )
  }
}
