// A cluster on real kernels: guests of QEMU with Debian's kernel, LVM and DRBD, and a master in namespaces of its own on this machine. A
// guest's root is this machine's, so that it runs the programs of this build. All hang on a bridge in a network namespace.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { DATA_COLLECTORS } from '../../src/model/constants/collectors'
import { root } from '../support/source-tree'
import { type Ran, run } from './run'

const KERNEL = path.join(root, '.cache/kernel')
export const GANETI = path.join(root, '.cache/ganeti')
const program = (name: string): string => path.join(root, 'bin', `${name}.js`)
const GNT = program('gnt')
/** Since QEMU 8 it is a program, and a package, of its own. */
const SHARING_PROGRAMS = ['/usr/libexec/virtiofsd', '/usr/lib/qemu/virtiofsd']
const VIRTIOFSD = SHARING_PROGRAMS.find((file) => fs.existsSync(file)) ?? '/usr/libexec/virtiofsd'
/** Whatever is started dies with the test, however that ends. */
const DYING = ['--pdeathsig', 'KILL', '--']
/** Everything that can be emulated, but for what makes an emulated processor slower: deep page tables, checks at each call, wide registers. */
const CPU = 'max,la57=off,smap=off,smep=off,avx=off,avx2=off'
/**
 * DRBD takes its other node for lost after half a second without an answer; a guest may have to wait longer for a processor. As long as
 * that it would look at each new connection, too, if it were not told otherwise.
 */
export const PATIENT = '--ping-timeout=100 --timeout=90 --socket-check-timeout=1'
/** Only there to end what hangs: guests that wait for a processor may take very long. */
export const PATIENCE_S = 1200
/** A status of curl. */
const COULD_NOT_CONNECT = 7
/**
 * A guest that has to wait for a processor when its kernel tries the timer would panic. QEMU translates code again at each new address, so
 * a program that always gets the same addresses starts two to three times as fast.
 */
const KERNEL_OPTIONS = 'console=ttyS0 panic=-1 quiet nokaslr norandmaps mitigations=off no_timer_check'
const NETWORK = '198.51.100'
const DOMAIN = 'gnt.example'
const PROGRAMS = `${path.join(root, 'bin')}:/usr/sbin:/usr/bin:/sbin:/bin`

const FILES = [VIRTIOFSD, '/usr/sbin/drbdsetup', '/usr/sbin/lvs', '/usr/sbin/sshd', path.join(KERNEL, 'initrd.gz')]
export const ganetiPresent = fs.existsSync(GANETI)
export const present = process.getuid?.() === 0 && FILES.every((file) => fs.existsSync(file))
const PACKAGES = 'qemu-system-x86 lvm2 drbd-utils kmod cpio openssh-server openssh-client'
export const NEEDED = `${PACKAGES} && sh test/kernel/kernel.sh (as root)`
export const GANETI_NEEDED = `${PACKAGES} && sh test/kernel/kernel.sh && sh test/kernel/ganeti.sh (as root)`

export const nameOf = (node: number): string => `node${node}.${DOMAIN}`
const addressOf = (node: number): string => `${NETWORK}.${20 + node}`

const BOUNDS =
  'min:disk-size=0,cpu-count=1,disk-count=0,memory-size=1,nic-count=0,spindle-use=0' +
  '/max:disk-size=1048576,cpu-count=8,disk-count=16,memory-size=32768,nic-count=8,spindle-use=12'
/** How a cluster begins. */
export const CLUSTER = [
  ...['--no-ssh-init', '--no-etc-hosts', '--enabled-hypervisors=fake', '-H', 'fake:migration_mode=live'],
  ...['--enabled-disk-templates=diskless', `--ipolicy-bounds-specs=${BOUNDS}`, '--candidate-pool-size=1'],
  ...['--master-netdev=switch', '--master-netmask=24', '--nic-parameters=link=switch', `cluster.${DOMAIN}`],
]

/** With less room, QEMU forgets translated code that is soon needed again, which costs a fifth of the time. */
const TRANSLATED_MIB = 1024

/** What a node runs as its daemon. */
export type Software = 'gantry' | 'ganeti'

export async function until(what: string, patience_s: number, is: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + patience_s * 1000
  while (!(await is())) {
    if (Date.now() > end) throw new Error(`${what}: not within ${patience_s} s`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** Whatever happens to disks is a test's doing, and processors are scarce: collectors start programs all the time. */
export async function calm(gnt: (...words: string[]) => Promise<string>, collectors: readonly string[]): Promise<void> {
  await gnt('cluster', 'watcher', 'pause', '24h')
  const switched = collectors.map((name) => `${name}=false`)
  await gnt('cluster', 'modify', `--enabled-data-collectors=${switched.join()}`)
}

const isReady = (file: string): boolean => fs.existsSync(file) && fs.statSync(file).size > 0

export class Machines {
  private readonly folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gk-'))
  private readonly namespace = path.basename(this.folder)
  private readonly guests = new Map<number, ChildProcess[]>()
  private master: ChildProcess | undefined
  private masterPid = 0

  /** A master, and a cluster of it and so many guests, in which only guests have disks. */
  static start(count: number): Promise<Machines> {
    return Machines.with(count, 'gantry', (machines) => machines.makeCluster())
  }

  /** So many guests and a machine that is to be the master, of which `make` makes a cluster while the guests start. */
  static async with(count: number, software: Software, make: (machines: Machines) => Promise<void>): Promise<Machines> {
    const machines = new Machines()
    try {
      machines.makeNetwork()
      machines.startMaster()
      for (let node = 1; node <= count; node++) machines.powerOn(node, software)
      await make(machines)
      return machines
    } catch (error) {
      await machines.remove()
      throw error
    }
  }

  /** Runs a command of the cluster on the master; what it prints is the message of the error when it fails. */
  async gnt(...words: string[]): Promise<string> {
    const { code, output } = await this.onMaster([GNT, ...words], PATIENCE_S)
    if (code === 0) return output
    throw new Error(`gnt ${words.join(' ')} ended with ${code}: ${output}`)
  }

  /** One of the tools that ask all nodes how they are; none of them goes on without a node that has to wait too long for a processor. */
  async tool(name: string, ...words: string[]): Promise<string> {
    for (let tries_left = 20; ; tries_left--) {
      const { code, output } = await this.onMaster([program(name), ...words], PATIENCE_S)
      if (code === 0) return output
      if (tries_left === 0 || !output.includes('failed to load data'))
        throw new Error(`${name} ${words.join(' ')} ended with ${code}: ${output}`)
    }
  }

  /** What a command prints that ends with a failure. */
  async refused(...words: string[]): Promise<string> {
    const { code, output } = await this.onMaster([GNT, ...words], PATIENCE_S)
    if (code !== 0) return output
    throw new Error(`gnt ${words.join(' ')} was not refused: ${output}`)
  }

  onMaster(words: readonly string[], patience_s: number): Promise<Ran> {
    return run([...this.enter(), ...words], patience_s, { what: words.join(' ') })
  }

  /** A command line in a guest, over SSH. */
  async inGuest(node: number, line: string, input = ''): Promise<string> {
    const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR', 'ConnectTimeout=60']
    // Commands share a connection: a new one costs a guest more than most of them.
    options.push('ControlMaster=auto', `ControlPath=${this.file(`ssh${node}`)}`, 'ControlPersist=yes')
    // When the test was killed, nobody else ends it.
    options.push('ServerAliveInterval=60', `ServerAliveCountMax=${PATIENCE_S / 60}`)
    const ssh = [
      'ssh',
      '-i',
      this.file('key'),
      ...options.flatMap((option) => ['-o', option]),
      `root@${addressOf(node)}`,
    ]
    const words = ['ip', 'netns', 'exec', this.namespace, ...ssh, line]
    const { code, output } = await run(words, PATIENCE_S, { input, what: `${nameOf(node)}: ${line}` })
    if (code !== 0) throw new Error(`${nameOf(node)}: ${line} ended with ${code}: ${output}`)
    return output
  }

  /** While the guests start. */
  private async makeCluster(): Promise<void> {
    await this.gnt('cluster', 'init', ...CLUSTER)
    await this.startDaemons()
    await calm((...words) => this.gnt(...words), DATA_COLLECTORS)
    // One after the other: a daemon has a minute to start, which may be short for three at once on two processors.
    for (const node of this.guests.keys()) await this.join(node)
    await this.gnt('node', 'modify', '--vm-capable=no', nameOf(0))
    const templates = 'plain,drbd,diskless'
    await this.gnt(
      ...['cluster', 'modify', `--enabled-disk-templates=${templates}`, `--ipolicy-disk-templates=${templates}`],
      ...['--vg-name=xenvg', '--drbd-usermode-helper=/bin/true', '-D', `drbd:net-custom=${PATIENT}`],
    )
  }

  /** One more node, whose daemon is a real Ganeti's. */
  addGaneti(node: number): Promise<void> {
    this.powerOn(node, 'ganeti')
    return this.join(node)
  }

  /** The cluster forgets it. */
  async removeNode(node: number): Promise<void> {
    await this.gnt('node', 'remove', nameOf(node))
    await this.powerOff(node)
    this.guests.delete(node)
  }

  private async join(node: number): Promise<void> {
    await this.ready(node)
    // The first login of all takes longest, and whoever adds a node waits ten seconds for it.
    await this.inGuest(node, 'true')
    await this.gnt('node', 'add', '--no-ssh-key-check', nameOf(node))
  }

  /** What a test that failed has left would make the next ones fail. */
  async tidy(): Promise<void> {
    for (const [node, [guest]] of this.guests)
      if (guest?.exitCode !== null || guest.signalCode !== null) {
        await this.backAgain(node)
        await this.gnt('node', 'modify', '--offline=no', '-f', nameOf(node))
      }
    for (const name of (await this.gnt('instance', 'list', '--no-headers', '-o', 'name')).split('\n').filter(Boolean))
      await this.gnt('instance', 'remove', '-f', '--ignore-failures', '--shutdown-timeout=0', name.trim())
  }

  /** As when the cable is pulled. */
  async powerOff(node: number): Promise<void> {
    // A network card can be opened again only then.
    for (const child of this.guests.get(node) ?? [])
      await new Promise((resolve) => (child.once('close', resolve).kill('SIGKILL') ? undefined : resolve(undefined)))
    spawnSync('ssh', ['-O', 'exit', '-o', `ControlPath=${this.file(`ssh${node}`)}`, nameOf(node)], { stdio: 'ignore' })
    fs.rmSync(this.file(`console${node}`), { force: true })
  }

  powerOn(node: number, software: Software = 'gantry'): void {
    const file = (name: string) => this.file(`${name}${node}`)
    if (!fs.existsSync(file('own'))) {
      for (const [disk, size] of [
        ['own', '1G'],
        ['group', '24G'],
        ['spare', '24G'],
      ] as const)
        execFileSync('truncate', ['-s', size, file(disk)])
      execFileSync('mke2fs', ['-q', '-t', 'ext4', file('own')])
      const tap = ['-n', this.namespace, 'tuntap', 'add', `tap${node}`, 'mode', 'tap']
      execFileSync('ip', tap)
      execFileSync('ip', ['-n', this.namespace, 'link', 'set', `tap${node}`, 'master', 'switch', 'up'])
    }
    const settings = {
      ...{ NAME: nameOf(node), ADDRESS: addressOf(node), HOSTS: this.file('hosts'), KEY: this.file('key') },
      ...{ GANETI: software === 'ganeti' ? fs.realpathSync(GANETI) : '' },
      ...{ PROGRAMS: path.join(root, 'bin'), MODULES: fs.realpathSync(path.join(KERNEL, 'modules')) },
      NOW: String(Math.floor(Date.now() / 1000)),
    }
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
    fs.writeFileSync(file('settings'), lines.join(''))
    fs.rmSync(file('fs'), { force: true })
    const share = ['-o', 'source=/', '-o', 'cache=always', '-o', 'sandbox=chroot', '-o', 'no_posix_lock', '-o', 'xattr']
    const server = spawn('setpriv', [...DYING, VIRTIOFSD, `--socket-path=${file('fs')}`, ...share], { stdio: 'ignore' })
    while (!fs.existsSync(file('fs'))) execFileSync('sleep', ['0.02'])
    const init = path.join(__dirname, 'guest-init.sh')
    const memory = 'memory-backend-memfd,id=memory,size=1200M,share=on'
    const guest = spawn(
      'setpriv',
      [
        ...DYING,
        'ip',
        ...['netns', 'exec', this.namespace, 'qemu-system-x86_64', '-M', 'pc,memory-backend=memory', '-cpu', CPU],
        ...[
          '-accel',
          `tcg,thread=multi,tb-size=${TRANSLATED_MIB}`,
          '-smp',
          '1',
          '-m',
          '1200',
          '-object',
          memory,
          '-display',
          'none',
        ],
        ...['-nodefaults', '-no-reboot', '-chardev', `socket,id=share,path=${file('fs')}`],
        ...['-device', 'vhost-user-fs-pci,chardev=share,tag=host'],
        ...['-drive', `file=${file('own')},if=virtio,format=raw,cache=unsafe`],
        ...['-drive', `file=${file('group')},if=virtio,format=raw,cache=unsafe,discard=unmap,detect-zeroes=unmap`],
        ...['-drive', `file=${file('spare')},if=virtio,format=raw,cache=unsafe,discard=unmap,detect-zeroes=unmap`],
        ...['-netdev', `tap,id=card,ifname=tap${node},script=no,downscript=no`],
        ...['-device', `virtio-net-pci,netdev=card,mac=52:54:00:11:22:0${node}`],
        ...['-kernel', path.join(KERNEL, 'vmlinuz'), '-initrd', path.join(KERNEL, 'initrd.gz'), '-append'],
        `${KERNEL_OPTIONS} guest-init=${init} settings=${file('settings')}`,
        ...['-serial', `file:${file('console')}`],
      ],
      { stdio: 'ignore' },
    )
    this.guests.set(node, [guest, server])
  }

  async ready(node: number): Promise<void> {
    const console = this.file(`console${node}`)
    await until(`${nameOf(node)} starts`, PATIENCE_S, () => {
      const said = fs.existsSync(console) ? fs.readFileSync(console, 'utf8') : ''
      const [guest] = this.guests.get(node) ?? []
      if (guest?.exitCode !== null) throw new Error(`${nameOf(node)} ended while it started: ${said.slice(-2000)}`)
      return said.includes('READY')
    })
  }

  /** Starts a node that lost its power, and waits for its daemon. */
  async backAgain(node: number): Promise<void> {
    this.powerOn(node)
    await this.ready(node)
    await this.daemonAnswers(node)
  }

  /** Another one is started in its place. */
  async killDaemon(node: number): Promise<void> {
    // A process that is dying still accepts connections, and who asks then would take it for its successor.
    await this.inGuest(
      node,
      'for pid in $(pgrep -f ^ganeti-noded); do kill -9 $pid; while kill -0 $pid; do sleep 0.1; done; done 2> /dev/null || true',
    )
    await this.daemonAnswers(node)
  }

  async killJob(): Promise<void> {
    await this.onMaster(['pkill', '-9', '-f', '/job[.]js'], 30)
  }

  /** All of its daemons and jobs, and starts them again. */
  async killMaster(): Promise<void> {
    await this.onMaster(['pkill', '-9', '-f', '^ganeti-|/job[.]js'], 30)
    await this.startDaemons()
  }

  /** Waits for the end of a job, however it ends. */
  async settle(job: string): Promise<void> {
    await this.masterAnswers()
    await until(`job ${job} ends`, PATIENCE_S, async () => {
      const reported = await this.onMaster([GNT, 'job', 'list', '--no-headers', '-o', 'status', job], PATIENCE_S)
      return /success|error|canceled/.test(reported.output)
    })
  }

  /** What verify says, whatever it finds. */
  async verify(): Promise<string> {
    return (await this.onMaster([GNT, 'cluster', 'verify'], PATIENCE_S)).output
  }

  daemonAnswers(node: number): Promise<void> {
    const requested = ['curl', '-ks', '-o', '/dev/null', `https://${addressOf(node)}:1811/`]
    return until(`the daemon of ${nameOf(node)}`, PATIENCE_S, async () => {
      const { code } = await run(['ip', 'netns', 'exec', this.namespace, ...requested], 30)
      // It refuses whoever has no certificate, but by then it listens.
      return code !== COULD_NOT_CONNECT
    })
  }

  private masterAnswers(): Promise<void> {
    return until(
      'the master answers',
      PATIENCE_S,
      async () => (await this.onMaster([GNT, 'node', 'list'], 60)).code === 0,
    )
  }

  async remove(): Promise<void> {
    for (const node of this.guests.keys()) await this.powerOff(node)
    const master = this.master
    if (master !== undefined) {
      const closed = new Promise((resolve) => master.once('close', resolve))
      // With it all of its namespace ends.
      process.kill(this.masterPid, 'SIGKILL')
      await closed
    }
    execFileSync('ip', ['netns', 'delete', this.namespace])
    fs.rmSync(this.folder, { recursive: true, maxRetries: 20, retryDelay: 100 })
  }

  private file(name: string): string {
    return path.join(this.folder, name)
  }

  private makeNetwork(): void {
    const hosts = [0, 1, 2, 3, 4].map((node) => `${addressOf(node)} ${nameOf(node)}`)
    const instances = [1, 2, 3, 4, 5].map((at) => `${NETWORK}.${100 + at} inst${at}.${DOMAIN}`)
    const cluster = `${NETWORK}.19 cluster.${DOMAIN}`
    fs.writeFileSync(this.file('hosts'), ['127.0.0.1 localhost', cluster, ...hosts, ...instances, ''].join('\n'))
    execFileSync('ssh-keygen', ['-q', '-t', 'ecdsa', '-N', '', '-f', this.file('key')])
    const ip = (words: string) => execFileSync('ip', words.split(' '))
    ip(`netns add ${this.namespace}`)
    ip(`-n ${this.namespace} link set lo up`)
    ip(`-n ${this.namespace} link add switch type bridge`)
    ip(`-n ${this.namespace} addr add ${addressOf(0)}/24 dev switch`)
    ip(`-n ${this.namespace} link set switch up`)
  }

  private startMaster(): void {
    const words = [path.join(__dirname, 'master-init.sh'), this.folder, nameOf(0), root]
    const own = ['unshare', '-m', '-u', '-i', '-p', '-f', '--kill-child=KILL', ...words]
    const child = spawn('setpriv', [...DYING, 'ip', 'netns', 'exec', this.namespace, ...own], { stdio: 'ignore' })
    this.master = child
    const first = `/proc/${child.pid}/task/${child.pid}/children`
    while (this.masterPid === 0) {
      execFileSync('sleep', ['0.05'])
      this.masterPid = Number(fs.readFileSync(first, 'utf8').trim())
    }
    while (!isReady(this.file('master-ready'))) execFileSync('sleep', ['0.05'])
  }

  /** Those of the master, which answers then. */
  async startDaemons(): Promise<void> {
    spawn('nsenter', [...this.enter().slice(1), path.join(root, 'bin/gantryd.js'), 'node'], { stdio: 'ignore' }).unref()
    await this.masterAnswers()
  }

  private enter(): string[] {
    const own = [
      'nsenter',
      '-t',
      String(this.masterPid),
      '-m',
      '-u',
      '-i',
      '-n',
      '-p',
      '-w/',
      '--',
      '/usr/bin/env',
      '-i',
    ]
    return [...own, `PATH=${PROGRAMS}`, 'HOME=/root', 'LANG=C.UTF-8', 'USER=root', 'TERM=dumb']
  }
}
