// The files of hypervisors that must be equal on all nodes which host instances, so that a guest finds them wherever it moves.
import type { Hypervisor, Params } from './config'
import { PATH } from './constants/paths'

export interface HypervisorFile {
  readonly path: string
  /** Only root may read it, whatever the master's copy says. */
  readonly secret: boolean
}

interface Named {
  /** Needed by every node that runs the hypervisor, where an administrator has made them. */
  readonly always: readonly string[]
  /** Parameters whose value is the path of a password, and of a program that connects NICs. */
  readonly passwords: readonly string[]
  readonly scripts: readonly string[]
}

const NONE: Named = { always: [], passwords: [], scripts: [] }
const NAMED: Partial<Record<Hypervisor, Named>> = {
  kvm: { always: [PATH.NIC_SCRIPT], passwords: ['vnc_password_file', 'spice_password_file'], scripts: [] },
  'xen-hvm': { always: [], passwords: ['vnc_password_file'], scripts: ['vif_script'] },
  'xen-pvm': { always: [], passwords: [], scripts: ['vif_script'] },
}

export function filesOfHypervisor(hypervisor: Hypervisor, params: Params): HypervisorFile[] {
  const { always, passwords, scripts } = NAMED[hypervisor] ?? NONE
  const values = (names: readonly string[]) =>
    names.map((name) => params[name]).filter((value) => typeof value === 'string' && value.startsWith('/')) as string[]
  return [
    ...[...always, ...values(scripts)].map((path) => ({ path, secret: false })),
    ...values(passwords).map((path) => ({ path, secret: true })),
  ]
}
