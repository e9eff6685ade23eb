// Chooses the hypervisor of a new embedded cluster, with the reason in words.
import * as fs from 'node:fs'
import { isMissing } from '../lib/disk'
import { systemFiles } from '../lib/files'
import { QEMU_INSTALL, findQemu, hasVirtualization } from '../node/hypervisor/kvm/host'
import { canMakeTaps } from '../node/network/taps'
import { UsageError } from './options'

export interface HypervisorChoice {
  name: 'kvm' | 'fake'
  /** The choice and its reason, in words. */
  reason: string
}

export async function chooseHypervisor(desired: 'kvm' | 'fake' | undefined): Promise<HypervisorChoice> {
  if (desired === 'fake') return { name: 'fake', reason: 'fake, as requested: no instance really runs' }
  const qemu = await findQemu(systemFiles, '')
  if (qemu !== undefined) return { name: 'kvm', reason: `kvm with ${qemu}, ${accelerator()}` }
  const install = `install it with: ${QEMU_INSTALL}`
  if (desired === 'kvm') throw new UsageError(`--hypervisor kvm needs QEMU, which is not on this machine; ${install}`)
  return {
    name: 'fake',
    reason: `fake: no instance really runs, because QEMU is not installed on this machine; ${install}`,
  }
}

/** How guests of these nodes are connected, in words. */
export async function guestNetwork(): Promise<string> {
  const outwards = "QEMU's user-mode network: guests can connect to the network, but cannot be reached from it"
  return (await canMakeTaps(systemFiles))
    ? `bridges and switches that this machine has; for other NICs ${outwards}`
    : `${outwards} (bridges and routes need root and /dev/net/tun)`
}

function accelerator(): string {
  if (!hasVirtualization(fs.readFileSync('/proc/cpuinfo', 'utf8')))
    return 'emulating the processor (TCG), as this one has neither vmx nor svm'
  try {
    fs.accessSync('/dev/kvm', fs.constants.R_OK | fs.constants.W_OK)
    return 'accelerated by KVM'
  } catch (error) {
    const why = isMissing(error)
      ? 'there is no /dev/kvm; "modprobe kvm_intel" or "modprobe kvm_amd", as root, makes it'
      : 'this user may not use /dev/kvm; "adduser USER kvm", as root, and a new login change that'
    return `emulating the processor (TCG), as ${why}`
  }
}
