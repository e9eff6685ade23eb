// The guest's PCI bus. Pure.
import type { DevicePlace } from './runtime'

const isExpress = (machine: string): boolean => machine.includes('q35')

export const pciBus = (machine: string): string => (isExpress(machine) ? 'pcie.0' : 'pci.0')

/** PCI Express's root bus takes no devices while the guest runs. These ports on it do, one each. */
const PORTS = 16
const PORT_SLOT = 0x1b
const FUNCTIONS = 8
const SLOTS = 32

/** QEMU's options for the ports, on machines with PCI Express. */
export function portArguments(machine: string): string[] {
  if (!isExpress(machine)) return []
  return Array.from({ length: PORTS }, (_, index) => {
    const slot = (PORT_SLOT + Math.floor(index / FUNCTIONS)).toString(16)
    const place = `bus=pcie.0,addr=0x${slot}.${index % FUNCTIONS},multifunction=on`
    return ['-device', `pcie-root-port,id=hot${index},${place},chassis=${index + 1}`]
  }).flat()
}

export class PciBus {
  private readonly slots = new Set<number>()
  private readonly ports: Set<string>
  private readonly isExpress: boolean

  /** `command`: the guest's; one that started without ports has none. `taken`: the devices' places. */
  constructor(
    private readonly machine: string,
    command: readonly string[],
    taken: readonly (DevicePlace | undefined)[],
  ) {
    this.isExpress = isExpress(machine)
    this.ports = new Set(command.flatMap((word) => /^pcie-root-port,id=(hot\d+),/.exec(word)?.[1] ?? []))
    for (const place of taken) {
      if (place?.['addr'] === undefined || this.ports.delete(String(place['bus']))) continue
      this.slots.add(Number(place['addr']))
    }
  }

  get takesMore(): boolean {
    return !this.isExpress || this.ports.size > 0
  }

  /** A place for a guest that is about to start, from this slot on; undefined if all are taken. */
  place(first: number): DevicePlace | undefined {
    for (let slot = first; slot < (this.isExpress ? PORT_SLOT : SLOTS); slot++) {
      if (this.slots.has(slot)) continue
      this.slots.add(slot)
      return { bus: pciBus(this.machine), addr: `0x${slot.toString(16)}` }
    }
    return this.isExpress ? this.portPlace() : undefined
  }

  /** A place for a running guest. */
  hotPlace(first: number): DevicePlace | undefined {
    return this.isExpress ? this.portPlace() : this.place(first)
  }

  private portPlace(): DevicePlace | undefined {
    const [port] = this.ports
    if (port === undefined) return undefined
    this.ports.delete(port)
    return { bus: port, addr: '0x0' }
  }
}
