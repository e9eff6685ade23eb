// Names guests on types of machines that the hypervisor is about to drop, so that they are started anew in time.
import { fillHvParams } from '../../../config/filled'
import { findInstance } from '../../../config/lookup'
import { isObject } from '../../../lib/shapes/shape'
import type { GroupState } from './group-state'
import type { VerifyReport } from './report'

export function noteOldMachines(report: VerifyReport, { config, images }: GroupState): void {
  const byText = new Map<string, string[]>()
  for (const reported of images.flatMap(({ answer }) => answer['gantry-old-machines'])) {
    if (!isObject(reported)) continue
    const { machine, version, gone } = reported
    const instance = findInstance(config, String(reported['instance']))
    if (instance === undefined) continue
    const named = String(fillHvParams(config.cluster, instance)['machine_version'] ?? '').split(',')[0]
    const state = gone
      ? `QEMU ${String(version)} lacks, so they cannot migrate to nodes with it;`
      : `QEMU ${String(version)} calls deprecated and a later one will lack; before that upgrade,`
    const choose = named === machine ? ' name another machine_version for them, and' : ''
    const text = `on machine type ${String(machine)}, which ${state}${choose} stop and start each once`
    byText.set(text, [...(byText.get(text) ?? []), instance.name])
  }
  for (const [text, names] of [...byText].sort())
    report.notice(`${names.length} instance(s) ${text}: ${names.sort().join(', ')}`)
}
