// A node in a temporary virtual root, for tests of code that runs on nodes.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { systemClock } from '../../src/lib/clock'
import { thisMachine } from '../../src/lib/machine'
import { silentLog } from '../../src/lib/log'
import { type Paths, pathsOf } from '../../src/lib/paths'
import { systemRandom } from '../../src/lib/random'
import { queueCopy } from '../../src/node/queue-copy'
import type { NodeContext } from '../../src/node/context'
import { hypervisorsOf } from '../../src/node/hypervisor/index'
import { NodeMeasures } from '../../src/node/measures'
import { ownedDisk } from '../../src/model/owners'
import { openSsconf } from '../../src/node/ssconf'
import { roomyFolder } from './roomy-folder'

export interface TestNode {
  context: NodeContext
  paths: Paths
  /** The messages to the daemons, in order. */
  told: string[]
  /** Writes a file of Ganeti's layout. */
  put(file: string, text: string, mode?: number): string
  remove(): void
}

export function testNode(hostname = 'node1.example.com', changes: Partial<NodeContext> = {}): TestNode {
  const folder = fs.mkdtempSync(path.join(roomyFolder(), 'gantry-node-'))
  const paths = pathsOf(path.join(folder, hostname), hostname)
  const reported: string[] = []
  const basics = {
    ...thisMachine,
    paths,
    hostname,
    bindAddress: '127.0.0.1',
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
  }
  const copied = { ...basics, disk: ownedDisk, ssconf: openSsconf(paths, basics.files) }
  const context: NodeContext = {
    ...copied,
    measures: new NodeMeasures(hostname),
    queueJournal: queueCopy({ ...copied, ...changes }),
    osSearchPath: [paths.local('/srv/ganeti/os')],
    hypervisor: hypervisorsOf(basics),
    daemons: {
      startMaster: (noVoting) => Promise.resolve(void reported.push(`start ${noVoting}`)),
      stopMaster: () => Promise.resolve(void reported.push('stop')),
      yieldMaster: () => Promise.resolve(reported.push('yield') > 0),
      ensure: (daemon, run) => Promise.resolve(reported.push(`${daemon} ${run}`) > 0),
      settle: () => Promise.resolve(void reported.push('settle')),
      leave: () => void reported.push('leave'),
    },
    ...changes,
  }
  const put = (file: string, text: string, mode = 0o644) => {
    const local = paths.local(file)
    fs.mkdirSync(path.dirname(local), { recursive: true })
    // One that nobody may write is replaced, too.
    fs.rmSync(local, { force: true })
    fs.writeFileSync(local, text, { mode })
    return local
  }
  fs.mkdirSync(paths.dataDir, { recursive: true })
  put('/etc/ganeti/file-storage-paths', '# disks\n/srv/ganeti/file-storage\n/srv/ganeti/shared-file-storage\n')
  for (const name of ['file-storage', 'shared-file-storage'])
    fs.mkdirSync(paths.local(`/srv/ganeti/${name}/inst1.example.com`), { recursive: true })
  return { context, paths, told: reported, put, remove: () => fs.rmSync(folder, { recursive: true }) }
}
