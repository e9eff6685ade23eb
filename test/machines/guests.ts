// Guests with Debian's kernel on machines, and what they say at their consoles.
import * as path from 'node:path'
import { linuxKernel, writeInitrd } from '../system/linux-guest'
import type { Machines } from './machines'

/** Makes a guest's files on the disk of all machines. Returns the parameters of kvm that start it with these addresses on its first NIC. */
export function linuxGuest(machines: Machines, folder: string): (...addresses: readonly string[]) => string {
  const initrd = path.join(folder, 'initrd')
  writeInitrd(initrd)
  const [kernel_path, initrd_path] = [machines.share(linuxKernel), machines.share(initrd)]
  return (...addresses) => {
    const args = ['console=ttyS0', ...addresses.map((address) => `guest-address=${address}`)].join(' ')
    return `kernel_path=${kernel_path},initrd_path=${initrd_path},kernel_args=${args}`
  }
}

/** Types a line at the guest's console on this machine, and resolves to what it says until the given word. */
export function inGuest(
  machines: Machines,
  machine: number,
  guest: string,
  line: string,
  end: string,
): Promise<string> {
  const talk = [
    `const socket = require('net').connect('/run/ganeti/kvm-hypervisor/ctrl/${guest}.serial')`,
    `let said = ''`,
    `socket.on('data', (data) => { said += data; if (said.includes('${end}')) { console.log(said); process.exit() } })`,
    `socket.write(process.argv[1] + '\\n')`,
  ]
  return machines.run(machine, `node -e "${talk.join('\n')}" '${line}'`)
}
