// A guest's own scope of systemd, where that runs the machine: what happens to the node's daemons and their units then happens to them alone,
// the guest's memory and time are accounted for, and an administrator can bound them.
import { environmentValue } from '../../../lib/environment'
import type { HypervisorContext } from '../hypervisor'

const RUNNING_SYSTEMD = '/run/systemd/system'
/** All guests of the node. */
const SLICE = 'ganeti-guests.slice'

/** The words before those of QEMU. Virtual nodes have their guests among their own processes. */
export function scopeOf({ files, paths, random }: HypervisorContext, name: string): string[] {
  if (paths.root !== '' || process.geteuid?.() !== 0 || !files.existsSync(RUNNING_SYSTEMD)) return []
  // The scope of a guest that has just ended may still be there.
  const unit = `ganeti-guest-${name}-${random.hex(2)}.scope`
  const properties = (environmentValue('GUEST_PROPERTIES') ?? '').split(/\s+/).filter((property) => property !== '')
  return [
    ...['systemd-run', '--scope', '--quiet', '--collect', `--slice=${SLICE}`, `--unit=${unit}`],
    ...[`--description=Ganeti instance ${name}`, ...properties.map((property) => `--property=${property}`), '--'],
  ]
}
