// Machines for the tests of the packages and for Ganeti's QA: containers with systemd as PID 1 on one bridge, in a network of their own. Each has a root file
// system of its own above a common one, and ends with the test, however that ends.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'

/** Root file systems: a bare machine, and one with Debian's Ganeti. */
const ROOTS = path.resolve(__dirname, '../../.cache/machines')
export type Kind = 'root' | 'ganeti'
const CONTAINER = '/usr/share/lxc/config/common.conf'
export const DYING = ['setpriv', '--pdeathsig', 'KILL', '--']
const CLEAN = [
  'env',
  '-i',
  'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  'HOME=/root',
  'TERM=dumb',
]

const missingFor = (kind: Kind): string[] => [
  ...(process.getuid?.() === 0 ? [] : ['run the tests as root']),
  ...(fs.existsSync(CONTAINER) ? [] : ['apt-get install -y --no-install-recommends lxc mmdebstrap']),
  ...(fs.existsSync(path.join(ROOTS, kind)) ? [] : ['sh test/machines/root-file-system.sh']),
  ...(fs.existsSync('/dev/net/tun') ? [] : ['modprobe tun']),
]
/** Whether bare machines have this file before anything is installed. */
export const bareHas = (file: string): boolean => fs.existsSync(path.join(ROOTS, 'root', file))
export const missing = missingFor('root')
export const missingForGaneti = missingFor('ganeti')
export const NEEDED = `skipped, machines need: ${missingForGaneti.join('; ')}`

export const nameOf = (machine: number): string => `node${machine}.machines.test`
export const CLUSTER = 'cluster.machines.test'
export const GUEST = '10.88.0.50'
/** Below it are the disks of all machines. */
export const SHARED = '/srv/ganeti/shared-file-storage'
const HOSTS = [
  '127.0.0.1 localhost',
  ...[1, 2, 3, 4].map((n) => `10.88.0.${n} ${nameOf(n)} node${n}`),
  `10.88.0.10 ${CLUSTER}`,
]

/** A bridge with the machine's address on it, as an administrator makes it. */
const LAN = (machine: number) => `[Unit]
Before=network-online.target ssh.service
DefaultDependencies=no
After=local-fs.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'ip link add br0 type bridge && ip link set eth0 master br0 up && ip address add 10.88.0.${machine}/24 dev br0 && ip link set br0 up'
ExecStart=/usr/bin/ssh-keygen -A
[Install]
WantedBy=multi-user.target
`

export interface Ran {
  readonly code: number
  readonly output: string
}

export class Machines {
  /** Sockets are below it, so its name is short. */
  readonly folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gm-'))
  private readonly keeper: ChildProcess
  private readonly containers = new Map<number, ChildProcess>()
  /** The root file system that a bare machine begins with. */
  private bare = path.join(ROOTS, 'root')
  /** What every machine has as /etc/hosts. */
  readonly hosts: string

  /** Names are lines of /etc/hosts beside those of the machines. */
  constructor(names: readonly string[] = []) {
    this.hosts = `${[...HOSTS, ...names].join('\n')}\n`
    fs.mkdirSync(path.join(this.folder, 'shared'))
    const [cgroups, ready] = [path.join(this.folder, 'cgroups'), path.join(this.folder, 'ready')]
    const line = [
      // The containers' own network is seen in /sys, which has the control groups, too.
      ...[`mkdir ${cgroups}`, `mount --rbind /sys/fs/cgroup ${cgroups}`, 'mount -t sysfs sys /sys'],
      ...[`mount --rbind ${cgroups} /sys/fs/cgroup`, 'ip link set lo up', 'ip link add lan type bridge'],
      ...['ip link set lan up', `touch ${ready}`, 'exec sleep infinity'],
    ].join(' && ')
    const [program = '', ...words]: readonly string[] = [...DYING, 'unshare', '-m', '-n', 'sh', '-c', line]
    this.keeper = spawn(program, words, { stdio: ['ignore', 'ignore', 'inherit'] })
    while (!fs.existsSync(ready)) {
      if (this.keeper.exitCode !== null) throw new Error('no namespaces of its own can be made here')
      execFileSync('sleep', ['0.02'])
    }
  }

  /** Before any is started: all of them that are of a bare kind get these packages, and share the files of those. */
  async install(packages: readonly string[]): Promise<void> {
    const own = path.join(this.folder, 'installed')
    const [upper, work, root] = [path.join(own, 'upper'), path.join(own, 'work'), path.join(own, 'root')]
    const line = [
      `mkdir -p ${upper} ${work} ${root}`,
      `mount -t overlay overlay -o lowerdir=${path.join(ROOTS, 'root')},upperdir=${upper},workdir=${work} ${root}`,
      `mount -t proc proc ${root}/proc`,
      `cp ${packages.join(' ')} ${root}/tmp`,
      `chroot ${root} dpkg --force-unsafe-io -i ${packages.map((file) => `/tmp/${path.basename(file)}`).join(' ')}`,
      `rm ${root}/tmp/*`,
      `umount ${root}/proc`,
    ].join(' && ')
    const { code, output } = await ended([...this.inside, ...CLEAN, 'sh', '-c', line])
    if (code !== 0) throw new Error(`the packages were not installed:\n${output}`)
    this.bare = root
  }

  /** Resolves when systemd has started what it should. */
  async start(machine: number, kind: Kind = 'root'): Promise<void> {
    const own = path.join(this.folder, `m${machine}`)
    const upper = path.join(own, 'upper')
    const write = (place: string, text: string) => {
      fs.mkdirSync(path.dirname(path.join(upper, place)), { recursive: true })
      fs.writeFileSync(path.join(upper, place), text)
    }
    write('/etc/hostname', `${nameOf(machine)}\n`)
    write('/etc/hosts', this.hosts)
    write('/etc/systemd/system/lan.service', LAN(machine))
    write('/etc/systemd/system/multi-user.target.wants/.keep', '')
    fs.symlinkSync('../lan.service', path.join(upper, '/etc/systemd/system/multi-user.target.wants/lan.service'))
    fs.writeFileSync(
      path.join(own, 'config'),
      this.config(machine, kind === 'root' ? this.bare : path.join(ROOTS, kind), upper),
    )
    const log = path.join(own, 'lxc.log')
    const words = ['lxc-start', '-F', '-P', this.folder, '-n', `m${machine}`, '-l', 'WARN', '-o', log]
    const [program = '', ...rest]: readonly string[] = [...DYING, ...this.inside, ...words]
    this.containers.set(machine, spawn(program, rest, { stdio: 'ignore' }))
    await this.isUp(machine)
  }

  async isUp(machine: number): Promise<void> {
    await this.until(machine, 'systemctl is-system-running', ({ output }) => /^(running|degraded)/m.test(output))
  }

  /** Runs a line of a shell; rejects when it fails. */
  async run(machine: number, line: string): Promise<string> {
    const { code, output } = await this.attempt(machine, line)
    if (code !== 0) throw new Error(`${line} ended with ${code} on ${nameOf(machine)}:\n${output}`)
    return output
  }

  attempt(machine: number, line: string): Promise<Ran> {
    const words = ['lxc-attach', '-P', this.folder, '-n', `m${machine}`, '--', ...CLEAN, 'sh', '-c', line]
    return ended([...this.inside, ...words])
  }

  /** Runs it again and again until its outcome is the wanted one; Jest's limit ends what never comes. */
  async until(machine: number, line: string, desired: (ran: Ran) => boolean): Promise<string> {
    for (;;) {
      const ran = await this.attempt(machine, line)
      if (desired(ran)) return ran.output
      if (this.containers.get(machine)?.exitCode !== null)
        throw new Error(`the machine ${machine} ended:\n${this.logs()}`)
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }

  /** Puts a file of this machine into the folder that all of them share. */
  share(file: string): string {
    fs.copyFileSync(file, path.join(this.folder, 'shared', path.basename(file)))
    return `${SHARED}/${path.basename(file)}`
  }

  /** Words before a command that is to be in the machines' network and to see their control groups. */
  get inside(): readonly string[] {
    return ['nsenter', '-t', String(this.keeper.pid), '-m', '-n', '--']
  }

  async remove(): Promise<void> {
    for (const [machine, child] of this.containers) {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      const [program = '', ...words]: readonly string[] = [
        ...this.inside,
        'lxc-stop',
        '-k',
        '-P',
        this.folder,
        '-n',
        `m${machine}`,
      ]
      spawn(program, words, { stdio: 'ignore' })
      if (child.exitCode === null && child.signalCode === null) await ended
    }
    this.keeper.kill('SIGKILL')
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }

  private logs(): string {
    const files = [...this.containers.keys()].map((machine) => path.join(this.folder, `m${machine}/lxc.log`))
    return files.map((file) => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8').slice(-2000) : '')).join('\n')
  }

  private config(machine: number, root: string, upper: string): string {
    return [
      `lxc.include = ${CONTAINER}`,
      `lxc.uts.name = ${nameOf(machine)}`,
      `lxc.rootfs.path = overlay:${root}:${upper}`,
      'lxc.init.cmd = /sbin/init',
      ...['lxc.net.0.type = veth', 'lxc.net.0.link = lan', 'lxc.net.0.flags = up'],
      'lxc.mount.auto = proc:mixed sys:mixed cgroup:mixed',
      'lxc.mount.entry = /dev/net/tun dev/net/tun none bind,create=file',
      'lxc.mount.entry = /dev/kvm dev/kvm none bind,create=file,optional',
      `lxc.mount.entry = ${path.join(this.folder, 'shared')} ${SHARED.slice(1)} none bind,create=dir`,
      'lxc.cgroup.devices.allow = a',
      'lxc.apparmor.profile = unconfined',
      '',
    ].join('\n')
  }
}

/** Runs a command and collects all that it says. */
function ended([program = '', ...words]: readonly string[]): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? -1, output }))
  })
}
