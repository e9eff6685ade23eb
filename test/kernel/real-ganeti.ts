// A cluster of which a real Ganeti is the master and keeps the nodes, until ours takes it over, and after it is given back.
import * as path from 'node:path'
import { GANETI_COLLECTORS } from '../../src/model/constants/collectors'
import { CLUSTER, GANETI, Machines, PATIENCE_S, PATIENT, calm, nameOf, until } from './machines'

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
  gnt(...[program, ...words]: string[]): Promise<string> {
    return this.onMaster([`/usr/sbin/gnt-${program}`, ...words])
  }

  /** What its verify finds, without the times, in an order that does not depend on which node answers first. */
  async complaints(): Promise<string[]> {
    const { output } = await this.machines.onMaster(['/usr/sbin/gnt-cluster', 'verify'], PATIENCE_S)
    if (!output.includes('* Hooks Results')) throw new Error(`verify did not come to its end: ${output}`)
    const found = output.matchAll(/ - ((?:ERROR|WARNING): .*)/g)
    return Array.from(found, ([, text = '']) => text).sort()
  }

  /** Its daemons end everywhere, and ours start with what it has left. */
  async isTakenOver(): Promise<void> {
    const { machines } = this
    await this.shell(`. ${MACHINE}; leave_ganeti`)
    const start = `setsid ${PROGRAMS}/gantryd.js node < /dev/null > /var/log/ganeti/start.log 2>&1 &`
    await this.eachNode(`. ${MACHINE}; leave_ganeti; ${start}`)
    await machines.startDaemons()
    // What has just started takes long to answer in a guest.
    await until('all nodes answer', PATIENCE_S, async () => {
      const reported = await machines.gnt('node', 'list', '--no-headers', '-o', 'mtotal', ...this.nodes.map(nameOf))
      return !/[?*]/.test(reported)
    })
  }

  async isGivenBack(): Promise<void> {
    const become = `. ${MACHINE}; become_ganeti ${GANETI}; /usr/lib/ganeti/daemon-util`
    // The pattern must not match the shell that has it among its words.
    const ours = "'^ganeti-|gantryd[.]js'"
    const end = `pkill -f ${ours} || true; while pgrep -f ${ours} > /dev/null; do sleep 0.2; done`
    await this.shell(end)
    await this.eachNode(`${end}; ${become} start ganeti-noded`)
    await this.shell(`${become} start-all`)
  }

  /** All of them at the same time, until their daemons answer. */
  private async eachNode(line: string): Promise<void> {
    const { machines, nodes } = this
    await Promise.all(nodes.map((node) => machines.inGuest(node, line)))
    for (const node of nodes) await machines.daemonAnswers(node)
  }

  private async makeCluster(): Promise<void> {
    const { machines } = this
    // Ganeti wants to know the RSA key of the host.
    const hostKey = "ssh-keygen -q -t rsa -b 2048 -N '' -f /etc/ssh/ssh_host_rsa_key"
    await this.shell(`. ${MACHINE}; become_ganeti ${GANETI}; ${hostKey}`)
    await this.gnt('cluster', 'init', ...CLUSTER)
    await calm((...words) => this.gnt(...words), GANETI_COLLECTORS)
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
