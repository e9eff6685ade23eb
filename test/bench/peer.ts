// The real Ganeti, when a copy of its starter is named: started if it does not run yet, and stopped again in that case.
import { execFileSync, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { performance } from 'node:perf_hooks'
import type { AskedNode } from './processes'
import type { RapiTarget } from './rapi-load'

export class Peer {
  readonly rapi: RapiTarget = { host: '198.51.100.1', port: 5080, user: 'admin', password: 'secret' }
  readonly luxiSocket: string

  private constructor(
    private readonly folder: string,
    private readonly ours: boolean,
  ) {
    this.luxiSocket = path.join(folder, 'state/node1/run/ganeti/socket/ganeti-query')
  }

  static start(folder: string, say: (text: string) => void): Peer {
    const runs = spawnSync(path.join(folder, 'bin/node-exec'), ['1', 'true'], { stdio: 'ignore' }).status === 0
    if (!runs) {
      say('starting the real Ganeti; the first time takes some minutes')
      fs.mkdirSync(path.join(folder, 'logs'), { recursive: true })
      execFileSync(path.join(folder, 'start-ganeti.sh'), { stdio: ['ignore', 'ignore', 'inherit'] })
    }
    return new Peer(folder, !runs)
  }

  /** The parent of everything on its master node. */
  get pid(): number {
    return Number(fs.readFileSync(path.join(this.folder, 'state/node1/init.pid'), 'utf8'))
  }

  get firstNode(): AskedNode {
    const keyFile = path.join(this.folder, 'state/node1/varlibganeti/hmac.key')
    return { name: 'node1.gnt.example', address: '198.51.100.11', keyFile, parent: this.pid }
  }

  /** From the order to start the daemons of the master until one of them answers. */
  async restartMaster(answers: () => Promise<unknown>): Promise<number> {
    const daemons = (verb: string) =>
      execFileSync(path.join(this.folder, 'bin/node-exec'), ['1', '/usr/lib/ganeti/daemon-util', verb], {
        stdio: 'ignore',
      })
    daemons('stop-all')
    const begun = performance.now()
    daemons('start-all')
    for (;;) {
      try {
        await answers()
        return performance.now() - begun
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
  }

  /** Jobs wait for every candidate, so figures are taken with several and with one. */
  setCandidates(count: number): void {
    // A node refuses a role that it has already; that is no failure.
    const gnt = (...args: string[]) =>
      spawnSync(path.join(this.folder, 'bin/node-exec'), ['1', ...args], { stdio: 'ignore' })
    gnt('gnt-cluster', 'modify', `--candidate-pool-size=${count}`)
    for (let node = 2; node <= 4; node++)
      gnt('gnt-node', 'modify', `--master-candidate=${node <= count ? 'yes' : 'no'}`, `node${node}`)
  }

  stop(): void {
    if (this.ours) execFileSync(path.join(this.folder, 'stop-ganeti.sh'), { stdio: 'ignore' })
  }
}
