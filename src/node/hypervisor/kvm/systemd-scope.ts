// A guest's own systemd scope, if systemd runs the machine. So nothing that happens to the node's daemons and units
// affects guests. The guest's memory and time are accounted separately, and an administrator can limit them.
import { environmentValue } from '../../../lib/environment'
import type { HypervisorContext } from '../hypervisor'

const RUNNING_SYSTEMD = '/run/systemd/system'
/** The slice of all guests of the node. */
const SLICE = 'ganeti-guests.slice'

/** The words before QEMU's. Virtual nodes have their guests among their own processes. */
export function systemdScope({ files, paths, random }: HypervisorContext, name: string): string[] {
  if (paths.root !== '' || process.geteuid?.() !== 0 || !files.existsSync(RUNNING_SYSTEMD)) return []
  // The scope of a guest that has just ended may still exist.
  const unit = `ganeti-guest-${name}-${random.hex(2)}.scope`
  const properties = (environmentValue('GUEST_PROPERTIES') ?? '').split(/\s+/).filter((property) => property !== '')
  return [
    ...['systemd-run', '--scope', '--quiet', '--collect', `--slice=${SLICE}`, `--unit=${unit}`],
    ...[`--description=Ganeti instance ${name}`, ...properties.map((property) => `--property=${property}`), '--'],
  ]
}
