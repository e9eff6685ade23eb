// Nodes below one temporary root that share the tiny guest's disk. The test calls the handlers of node calls as a job would.
import { fork, type ForkOptions } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import type { Processes } from '../../src/lib/programs/processes'
import { systemDisk } from '../../src/lib/disk'
import type { NodeContext } from '../../src/node/context'
import { instanceHandlers as calls } from '../../src/node/handlers/instance'
import { hypervisorsOf } from '../../src/node/hypervisor/index'
import { NodeMeasures } from '../../src/node/measures'
import { queueCopy } from '../../src/node/queue-copy'
import { openSsconf } from '../../src/node/ssconf'
import type { InstanceDict, ReasonTrail } from '../../src/rpc/node/dicts'
import {
  SerialConsole,
  contextIn,
  diskDict,
  freePort,
  instanceDict,
  kvmParams,
  qemuProcessesBelow,
  removeRoot,
  temporaryRoot,
  tinyDisk,
} from './hypervisor'

/** The product's programs are not built for this. */
const forkSource: Processes['fork'] = (program: string | URL, args?: unknown, options?: ForkOptions) => {
  const execArgv = ['--require', path.join(__dirname, 'run-typescript.js')]
  return fork(program, args as readonly string[], { ...options, execArgv })
}

export const NO_REASON: ReasonTrail = []
const SHARED_FOLDER = '/srv/ganeti/shared-file-storage'
const NODES = ['node1.test', 'node2.test']

export class TinyNodes {
  readonly root = temporaryRoot()
  readonly first = this.node('node1.test')

  node(hostname: string): NodeContext {
    const plain = contextIn(this.root, hostname)
    const base = { ...plain, processes: { ...plain.processes, fork: forkSource } }
    const unused = (): never => {
      throw new Error('not part of this test')
    }
    const basics = { ...base, hostname, disk: systemDisk, ssconf: openSsconf(base.paths, base.files) }
    return {
      ...basics,
      osSearchPath: [],
      hypervisor: hypervisorsOf(base),
      measures: new NodeMeasures('test'),
      queueJournal: queueCopy(basics),
      daemons: {
        startMaster: unused,
        stopMaster: unused,
        yieldMaster: unused,
        ensure: unused,
        settle: unused,
        leave: unused,
      },
    }
  }

  /** Its disk is in a folder that all nodes of the test share. */
  async instance(params: Record<string, unknown>, overrides: Partial<InstanceDict> = {}): Promise<InstanceDict> {
    tinyDisk(this.disk)
    for (const hostname of NODES) this.shareFolder(hostname)
    return instanceDict({
      hvparams: { ...kvmParams, migration_port: await freePort('127.0.0.1'), ...params },
      disks_info: [diskDict(`${SHARED_FOLDER}/vm1.test/disk0`, { dev_type: 'sharedfile' })],
      ...overrides,
    })
  }

  /** Starts the guest so that nothing it prints is missed. */
  async boot(instance: InstanceDict, where = this.first): Promise<SerialConsole> {
    await calls.instance_start(where, instance, true, NO_REASON)
    const console = await SerialConsole.open(socketOf(where, 'serial', instance.name))
    await calls.instance_start(where, instance, false, NO_REASON)
    await console.expect(/READY gantry-tiny/)
    return console
  }

  /** Does what the job's `blockdev_assemble` does on a migration's target: it makes the disk's link before QEMU opens the disk. */
  assemble(where: NodeContext): void {
    const link = where.paths.local('/var/run/ganeti/instance-disks/vm1.test:0')
    fs.mkdirSync(path.dirname(link), { recursive: true })
    fs.rmSync(link, { force: true })
    fs.symlinkSync(this.disk, link)
  }

  /** Fails if a test has left a QEMU running. */
  remove(): void {
    SerialConsole.closeAll()
    const left = qemuProcessesBelow(this.root)
    removeRoot(this.root)
    expect(left).toEqual([])
  }

  private get disk(): string {
    return path.join(this.root, 'shared', 'vm1.test', 'disk0')
  }

  private shareFolder(hostname: string): void {
    const { paths } = contextIn(this.root, hostname)
    const folder = paths.local(SHARED_FOLDER)
    fs.mkdirSync(path.dirname(folder), { recursive: true })
    fs.rmSync(folder, { recursive: true, force: true })
    fs.symlinkSync(path.join(this.root, 'shared'), folder)
    fs.mkdirSync(path.dirname(paths.local('/etc/ganeti/x')), { recursive: true })
    fs.writeFileSync(paths.local('/etc/ganeti/file-storage-paths'), `${SHARED_FOLDER}\n`)
  }
}

export const socketOf = (where: NodeContext, kind: string, name = 'vm1.test'): string =>
  where.paths.local(`/var/run/ganeti/kvm-hypervisor/ctrl/${name}.${kind}`)

export const secondsOf = (match: RegExpExecArray): number => Number(match[1])
