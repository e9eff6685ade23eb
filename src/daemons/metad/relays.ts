// A Unix socket for each instance's address. If a node cannot have tap devices, QEMU passes a guest's requests to the
// metadata address to this guest's own socket, so that nobody can forge the sender.
import { isServed } from '../../lib/net/json-socket'
import type { Disk } from '../../lib/disk'
import type { Log } from '../../lib/log'
import { errorText } from '../../lib/system-failure'

interface Door {
  close(): Promise<void>
}

export interface RelaysOptions {
  readonly disk: Disk
  readonly log: Log
  readonly folder: string
  readonly open: (path: string, address: string) => Promise<Door>
}

export class Relays {
  private readonly doors = new Map<string, Door>()

  constructor(private readonly options: RelaysOptions) {}

  /** Opens missing doors, and closes those of unused addresses. */
  async follow(addresses: readonly string[]): Promise<void> {
    const { disk, folder, log, open } = this.options
    for (const [address, door] of this.doors)
      if (!addresses.includes(address)) {
        this.doors.delete(address)
        await door.close()
      }
    for (const address of addresses) {
      if (this.doors.has(address)) continue
      const path = `${folder}/${address}`
      try {
        await disk.makeDirectory(folder, 0o700)
        if (await isServed(path)) throw new Error(`another process already serves ${path}`)
        await disk.remove(path)
        this.doors.set(address, await open(path, address))
      } catch (error) {
        log.error({ address, failure: errorText(error) }, 'an instance with user-mode networking cannot ask')
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.doors.values()].map((door) => door.close()))
    this.doors.clear()
  }
}
