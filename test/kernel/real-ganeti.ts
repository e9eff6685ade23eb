// A cluster of which a real Ganeti is the master and keeps the nodes, until ours takes it over, and after it is given back.
import * as path from 'node:path'
import { CLUSTER, GANETI, Machines, PATIENCE_S, PATIENT, nameOf } from './machines'

const MACHINE = path.join(__dirname, 'ganeti-machine.sh')
const PROGRAMS = path.join(__dirname, '../../bin')

export class RealGaneti {
  private constructor(
    readonly machines: Machines,
    private readonly nodes: readonly number[],
  ) {}

  static async start(count: number): Promise<RealGaneti> {
    const nodes = Array.from({ length: count }, (_, at) => at + 1)
    const machines = await Machines.with(count, 'ganeti', (made) => new RealGaneti(made, nodes).makeCluster())
    return new RealGaneti(machines, nodes)
  }

  /** Runs one of Ganeti's own commands; what it prints is the message of the error when it fails. */
  async gnt(program: string, ...words: string[]): Promise<string> {
    return this.onMaster([`/usr/sbin/gnt-${program}`, ...words])
  }

  /** Its daemons end everywhere, and ours start with what it has left. */
  async isTakenOver(): Promise<void> {
    const { machines } = this
    await this.shell(`. ${MACHINE}; leave_ganeti`)
    for (const node of this.nodes) {
      const start = `setsid ${PROGRAMS}/gantryd.js node < /dev/null > /var/log/ganeti/start.log 2>&1 &`
      await machines.inGuest(node, `. ${MACHINE}; leave_ganeti; ${start}`)
    }
    for (const node of this.nodes) await machines.daemonAnswers(node)
    await machines.startDaemons()
  }

  async isGivenBack(): Promise<void> {
    const { machines } = this
    const become = `. ${MACHINE}; become_ganeti ${GANETI}`
    const end = "pkill -f '^ganeti-|gantryd' || true; while pgrep -f '^ganeti-|gantryd' > /dev/null; do sleep 0.2; done"
    await this.shell(end)
    for (const node of this.nodes)
      await machines.inGuest(node, `${end}; ${become}; /usr/lib/ganeti/daemon-util start ganeti-noded`)
    for (const node of this.nodes) await machines.daemonAnswers(node)
    await this.shell(`${become}; /usr/lib/ganeti/daemon-util start-all`)
  }

  private async makeCluster(): Promise<void> {
    const { machines } = this
    // Ganeti wants to know the RSA key of the host.
    const hostKey = "ssh-keygen -q -t rsa -b 2048 -N '' -f /etc/ssh/ssh_host_rsa_key"
    await this.shell(`. ${MACHINE}; become_ganeti ${GANETI}; ${hostKey}`)
    await this.gnt('cluster', 'init', ...CLUSTER)
    for (const node of this.nodes) {
      await machines.ready(node)
      await this.gnt('node', 'add', '--no-ssh-key-check', nameOf(node))
      if (node === 1) await this.gnt('node', 'modify', '--vm-capable=no', nameOf(0))
    }
    const templates = 'plain,drbd,diskless'
    const drbd = ['--drbd-usermode-helper=/bin/true', '-D', `drbd:net-custom=${PATIENT}`]
    await this.gnt('cluster', 'modify', `--enabled-disk-templates=${templates}`, '--vg-name=xenvg', ...drbd)
    await this.gnt('cluster', 'modify', `--ipolicy-disk-templates=${templates}`)
  }

  private shell = (line: string): Promise<string> => this.onMaster(['bash', '-c', line])

  private async onMaster(words: readonly string[]): Promise<string> {
    const { code, output } = await this.machines.onMaster(words, PATIENCE_S)
    if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${output}`)
    return output
  }
}
