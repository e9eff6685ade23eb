// The door in front of a real luxid on the recorded cluster's configuration, with test jobs.
import { mkdirSync, writeFileSync } from 'node:fs'
import * as path from 'node:path'
import { systemClock } from '../../../../src/lib/clock'
import type { Luxid } from '../../../../src/daemons/luxid/luxid'
import type { RapiOptions } from '../../../../src/daemons/rapi/server'
import type { Paths } from '../../../../src/lib/paths'
import { LuxiClient } from '../../../../src/rpc/luxi/client'
import type { FakeWconfd } from '../../../support/fake-wconfd'
import { queueText, removeRoot, temporaryPaths } from '../../../support/queue-in-process'
import { startTinyLuxid } from '../../../support/tiny-luxid'
import { Harness, USERS } from '../../../unit/daemons/rapi/harness'

export interface Reply {
  status: number
  headers: Record<string, string>
  json: Record<string, unknown>
  /** The body as it came. */
  text: string
}

export class RealMaster {
  private constructor(
    private readonly paths: Paths,
    public luxid: Luxid & { wconfd: FakeWconfd },
    readonly client: LuxiClient,
    readonly harness: Harness,
  ) {}

  static async start(door: Partial<RapiOptions> = {}): Promise<RealMaster> {
    const paths = temporaryPaths()
    mkdirSync(path.dirname(paths.rapiUsers), { recursive: true })
    writeFileSync(paths.rapiUsers, USERS)
    writeFileSync(paths.domainSecret, 'secret of this cluster\n')
    const luxid = await startTinyLuxid(paths)
    const client = new LuxiClient({ clock: systemClock, path: paths.socket('query') })
    return new RealMaster(paths, luxid, client, await Harness.start(client, door))
  }

  jobFile(id: unknown): string {
    return queueText(this.paths, `job-${String(id)}`) ?? ''
  }

  async restartLuxid(): Promise<void> {
    await this.luxid.close()
    this.luxid = await startTinyLuxid(this.paths)
  }

  async stop(): Promise<void> {
    await this.harness.stop()
    this.client.close()
    await this.luxid.close()
    await removeRoot(this.paths)
  }

  async ask(method: string, url: string, options: Parameters<Harness['ask']>[2] = {}): Promise<Reply> {
    const { status, headers, body } = await this.harness.ask(method, url, options)
    return { status, headers, text: body, json: body === '' ? {} : JSON.parse(body) }
  }
}
