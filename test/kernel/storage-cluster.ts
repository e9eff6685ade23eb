// An embedded cluster in a sandbox, beside the daemons of storage that its guests use, and what tests ask of it.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { SerialConsole, diskSizes, eventually } from '../support/hypervisor'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import type { Sandbox } from './sandbox'

const [WRITE, READ] = ['\x17', '\x12']

export class StorageCluster {
  private constructor(
    readonly sandbox: Sandbox,
    readonly cluster: EmbeddedCluster,
    private readonly template: string,
  ) {}

  /** Two nodes, whose guests have disks of this template. */
  static async start(
    template: string,
    sandbox: Sandbox,
    storage: () => Promise<void>,
    access: 'userspace' | 'kernelspace' = 'userspace',
  ): Promise<StorageCluster> {
    const args = ['--hypervisor', 'kvm', '--nodes', '2']
    const [cluster] = await Promise.all([startCluster(args, { enter: sandbox.enter }), storage()])
    const made = new StorageCluster(sandbox, cluster, template)
    const all = `${template},sharedfile,diskless`
    await made.ok('cluster', 'modify', `--enabled-disk-templates=${all}`, `--ipolicy-disk-templates=${all}`)
    await made.ok('cluster', 'modify', '-D', `${template}:access=${access}`)
    return made
  }

  async ok(...words: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.cluster.gnt(...words)
    if (code !== 0) throw new Error(`gnt ${words.join(' ')} ended with ${code}: ${stdout}${stderr}`)
    return stdout + stderr
  }

  /** What the command that is refused says. */
  async refused(...words: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.cluster.gnt(...words)
    if (code === 1) return stdout + stderr
    throw new Error(`gnt ${words.join(' ')} ended with ${code}: ${stdout}${stderr}`)
  }

  /** The words that add an instance of 8 MiB to the first node. */
  add = (name: string, ...more: string[]): string[] => [
    ...['instance', 'add', '-t', this.template, '--disk', '0:size=8m', '-o', 'gantry-tiny', '-B', 'memory=16m'],
    ...['-n', 'node1', ...more, name],
  ]

  /** A file below /var/run/ganeti of a node. */
  file = (node: string, name: string): string => this.local(node, `var/run/ganeti/${name}`)

  local = (node: string, name: string): string => path.join(this.cluster.root, `${node}.gantry.local`, name)

  /** The console of a guest that runs. Each hears only one, so those that were opened before are closed. */
  async console(node: string, name: string): Promise<SerialConsole> {
    SerialConsole.closeAll()
    const file = this.file(node, `kvm-hypervisor/ctrl/${name}.serial`)
    const found = await eventually(() => SerialConsole.open(file).catch(() => undefined))
    await found.expect(/T\d{4}/, 60)
    return found
  }

  /** A guest writes to its disk; answers what it will read there. */
  async write(node: string, name: string): Promise<string> {
    return this.writeWhile(node, name, () => Promise.resolve())
  }

  /** The same, while something is as it should not be when it begins to write. */
  async writeWhile(node: string, name: string, work: () => Promise<void>): Promise<string> {
    const console = await this.console(node, name)
    await console.expect(/T(?!000[01])\d{4}/, 60)
    console.type(WRITE)
    await work()
    return readBack(console)
  }

  async read(node: string, name: string): Promise<string> {
    return readBack(await this.console(node, name))
  }

  /** The size of a guest's disk as QEMU knows it. */
  sizeSeen(node: string, name: string): Promise<number[]> {
    return diskSizes(this.file(node, `kvm-hypervisor/ctrl/${name}.qmp`))
  }

  /** A guest that runs, and whose first disk has 16 MiB, gets one more of 8 MiB, and has both where it moves to. */
  async getsDiskAndMoves(name: string, ...more: string[]): Promise<void> {
    await this.ok('instance', 'modify', '--disk', ['add:size=8m', ...more].join(), name)
    expect(await this.sizeSeen('node1', name)).toEqual([16 << 20, 8 << 20])
    await this.ok('instance', 'migrate', '-f', name)
    expect(await this.sizeSeen('node2', name)).toEqual([16 << 20, 8 << 20])
  }

  /** As when its process crashes. */
  kill(node: string, name: string): void {
    process.kill(Number(fs.readFileSync(this.file(node, `kvm-hypervisor/pid/${name}`), 'utf8')), 'SIGKILL')
  }

  /** Disks that are shown as files at the moment. */
  lent = (): string[] =>
    ['node1', 'node2'].flatMap((node) => {
      const directory = this.file(node, 'lent-disks')
      return fs.existsSync(directory) ? fs.readdirSync(directory) : []
    })

  async remove(): Promise<void> {
    SerialConsole.closeAll()
    await this.cluster.remove()
    await this.sandbox.remove()
  }
}

async function readBack(console: SerialConsole): Promise<string> {
  console.type(READ)
  const [, found = ''] = await console.expect(/D(\d{4})/, 60)
  return found
}
