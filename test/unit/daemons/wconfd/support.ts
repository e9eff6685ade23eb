// A wconfd in a temporary root, with nodes that only exist in memory, and owners that live as long as their socket.
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import { ownedDisk } from '../../../../src/model/owners'
import { createConfig } from '../../../../src/config/store-files'
import { LocksFile } from '../../../../src/daemons/wconfd/locks-file'
import { startWconfd } from '../../../../src/daemons/wconfd/server'
import { systemClock } from '../../../../src/lib/clock'
import { systemRandom } from '../../../../src/lib/random'
import { systemDisk } from '../../../../src/lib/disk'
import { silentLog } from '../../../../src/lib/log'
import { pathsOf } from '../../../../src/lib/paths'
import { seededRandom } from '../../../../src/lib/random'
import type { ConfigData } from '../../../../src/model/config'
import type { ClientId } from '../../../../src/model/lock'
import type { NodeClient } from '../../../../src/rpc/node/client'
import { openWconfd, type WconfdClient } from '../../../../src/rpc/wconfd/client'
import { nodesOf } from '../../../support/fake-nodes'

/** Records every call; answers null unless told otherwise. */
export class FakeNodes implements NodeClient {
  readonly calls: [node: string, call: string, args: readonly unknown[]][] = []
  answer: (node: string, call: string, args: readonly unknown[]) => Promise<unknown> = () => Promise.resolve(null)

  private readonly client = nodesOf(async (target, call, args) => {
    this.calls.push([target.name, call, args])
    try {
      return { ok: true, payload: await this.answer(target.name, call, args) }
    } catch (error) {
      return { ok: false, error: error instanceof Error ? error.message : '', offline: false }
    }
  })
  readonly one = this.client.one
  readonly all = this.client.all
  readonly close = this.client.close

  of(call: string): [node: string, call: string, args: readonly unknown[]][] {
    return this.calls.filter(([, name]) => name === call)
  }
}

export interface TestOwner {
  client: ClientId
  die(): Promise<void>
}

export class TestWconfd {
  readonly folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gwc-'))
  readonly paths = pathsOf(`${this.folder}/n1`, 'n1')
  readonly nodes = new FakeNodes()
  private daemon: { close(): Promise<void> } | undefined
  private readonly clients: WconfdClient[] = []
  private readonly owners: net.Server[] = []

  async start(config?: ConfigData): Promise<void> {
    const options = { paths: this.paths, clock: systemClock, random: seededRandom(5), log: silentLog }
    if (config) {
      for (const directory of [this.paths.dataDir, this.paths.livelockDir]) fs.mkdirSync(directory, { recursive: true })
      await createConfig({ disk: systemDisk, paths: this.paths }, config)
    }
    this.daemon = await startWconfd({ ...options, disk: ownedDisk, nodes: this.nodes })
  }

  async stop(): Promise<void> {
    await this.daemon?.close()
    this.daemon = undefined
  }

  client(reconnect_s = 5): WconfdClient {
    const client = openWconfd({
      clock: systemClock,
      random: systemRandom,
      path: this.paths.socket('wconfd'),
      reconnect_s,
    })
    this.clients.push(client)
    return client
  }

  async owner(id: number): Promise<TestOwner> {
    const livelock = `${this.paths.livelockDir}/job_${id}`
    const server = net.createServer((socket) => socket.destroy())
    await new Promise<void>((resolve) => server.listen(livelock, () => resolve()))
    this.owners.push(server)
    return { client: [id, livelock, 1000 + id], die: () => new Promise((resolve) => server.close(() => resolve())) }
  }

  /** The state that the next run of the daemon would find. */
  async locksFile(): Promise<string | undefined> {
    return new LocksFile(systemDisk, this.paths.locksFile).read()
  }

  async remove(): Promise<void> {
    for (const client of this.clients) client.close()
    await this.stop()
    for (const owner of this.owners) owner.close()
    fs.rmSync(this.folder, { recursive: true })
  }
}

export async function eventually(check: () => void | Promise<void>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await check()
    } catch (error) {
      if (tries > 3000) throw error
      await systemClock.sleep(20)
    }
  }
}
