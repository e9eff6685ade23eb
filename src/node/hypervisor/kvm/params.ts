// Reads a filled instance's hypervisor parameters by type, so that a wrong one causes an error instead of `undefined`
// in a command line.
import type { HvParams } from '../../../rpc/node/dicts'
import { HypervisorFailure } from '../hypervisor'

export class KvmParams {
  constructor(private readonly params: HvParams) {}

  /** Empty if not set. */
  text(name: string): string {
    const value = this.params[name] ?? ''
    if (typeof value === 'string') return value
    throw new HypervisorFailure(`Hypervisor parameter '${name}' must be a text, not ${JSON.stringify(value)}`)
  }

  /** 0 if not set. */
  number(name: string): number {
    const value = this.params[name] ?? 0
    if (typeof value === 'number' && Number.isInteger(value)) return value
    throw new HypervisorFailure(`Hypervisor parameter '${name}' must be a whole number, not ${JSON.stringify(value)}`)
  }

  /** False if not set. */
  flag(name: string): boolean {
    const value = this.params[name] ?? false
    if (typeof value === 'boolean') return value
    throw new HypervisorFailure(`Hypervisor parameter '${name}' must be true or false, not ${JSON.stringify(value)}`)
  }
}
