// Reports what a dead job left half made: instances that are half made, and disks still marked as forthcoming, while no job works on them.
import { instanceDisks, shownPlace } from '../../../config/lookup'
import { HELPER_DISK_NAME } from '../../../model/constants/disks'
import type { ConfigData, Instance } from '../../../model/config'
import { isHalfMade, isReserved } from '../../../model/instance'
import type { VerifyReport } from './report'

/** This job has locked `instances`, so no other job is making them. */
export function verifyUnfinished(report: VerifyReport, config: ConfigData, instances: readonly Instance[]): void {
  for (const instance of instances) {
    if (isReserved(instance)) continue
    if (isHalfMade(instance)) {
      const { name } = instance
      const text =
        `its creation did not end, and parts of its disks may be on node ${nodeName(config, instance)}; ` +
        `make it anew with 'gnt-instance add --commit ${name}', or remove it with 'gnt-instance remove ${name}'`
      report.error('EINSTANCEFAULTYDISK', instance.name, text, 'WARNING')
      continue
    }
    const disks = instanceDisks(config, instance)
    disks.forEach((disk, index) => {
      const remove = `'gnt-instance modify --disk ${index}:remove ${instance.name}'`
      const title = `disk/${index} (${shownPlace(disk)})`
      const text =
        disk.name === HELPER_DISK_NAME
          ? `${title} is of a helper machine, which may still run in place of the instance, and whose job did not end; stop it with ` +
            `'gnt-instance shutdown ${instance.name}', remove the disk with ${remove}, and start the instance again`
          : `the creation of ${title} did not end; remove it with ${remove}`
      report.when(disk.forthcoming === true, 'EINSTANCEFAULTYDISK', instance.name, text, 'WARNING')
    })
  }
}

const nodeName = (config: ConfigData, instance: Instance): string =>
  config.nodes[instance.primary_node]?.name ?? instance.primary_node
