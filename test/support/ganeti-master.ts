// The master of a real Ganeti without any node: its wconfd, its luxid, and their jobs, on a folder of files. They run in a mount namespace,
// in which they see Ganeti's accounts and programs, which this machine does not have.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import { type Paths, pathsOf } from '../../src/lib/paths'
import { GANETI_PACKAGES, GANETI_PROGRAMS, ganetiPresent, PYTHON } from './ganeti-programs'
import { newestGaneti } from './newest-ganeti'

const GANETI = path.join(__dirname, '../../.cache/ganeti')
const DAEMONS = path.join(GANETI, `lib/ganeti/${newestGaneti(path.join(GANETI, 'lib/ganeti'))}/usr/sbin`)
const USERS = ['gnt-masterd', 'gnt-rapi', 'gnt-confd', 'gnt-luxid', 'gnt-metad']
const GROUPS = [...USERS, 'gnt-daemons', 'gnt-admin']
const FIRST_ID = 900

export const ganetiMasterPresent = ganetiPresent && process.getuid?.() === 0 && fs.existsSync(DAEMONS)
export const GANETI_MASTER_PACKAGES = `${GANETI_PACKAGES} && sh test/kernel/ganeti.sh (as root)`

export class GanetiMaster {
  private readonly folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gm-'))
  private readonly running: ChildProcess[] = []
  readonly paths: Paths

  constructor(private readonly hostname: string) {
    this.paths = pathsOf(path.join(this.folder, hostname), hostname)
    for (const directory of [this.paths.dataDir, `${this.paths.queueDir}/archive`, this.paths.socketDir])
      fs.mkdirSync(directory, { recursive: true })
    for (const directory of ['/var/run/ganeti/livelocks', '/var/log/ganeti', '/var/lock'])
      fs.mkdirSync(this.paths.local(directory), { recursive: true })
    fs.writeFileSync(this.paths.ssconf('master_node'), `${hostname}\n`)
    fs.writeFileSync(path.join(this.paths.queueDir, 'version'), '3\n')
    fs.writeFileSync(path.join(this.paths.queueDir, 'serial'), '0\n')
    const entries = (names: readonly string[], fields: (id: number) => string) =>
      names.map((name, at) => `${name}:x:${fields(FIRST_ID + at)}\n`).join('')
    this.put('passwd', fs.readFileSync('/etc/passwd', 'utf8') + entries(USERS, (id) => `${id}:${id}::/:/bin/false`))
    this.put('group', fs.readFileSync('/etc/group', 'utf8') + entries(GROUPS, (id) => `${id}:`))
  }

  async start(): Promise<void> {
    for (const [role, socket] of [
      ['wconfd', 'wconfd'],
      ['luxid', 'query'],
    ] as const) {
      const words = [path.join(DAEMONS, `ganeti-${role}`), '-f', '--no-user-checks', '--no-voting', '--yes-do-it']
      const [program = '', ...args] = this.within(words)
      // The output goes to a file, because nobody reads a pipe while a command of Ganeti runs.
      const log = path.join(this.folder, `${role}.log`)
      const file = fs.openSync(log, 'a')
      const child = spawn(program, args, { env: this.environment(), stdio: ['ignore', file, file] })
      fs.closeSync(file)
      this.running.push(child)
      while (!(await answers(this.paths.socket(socket)))) {
        if (child.exitCode !== null)
          throw new Error(`ganeti-${role} ended with ${child.exitCode}: ${fs.readFileSync(log, 'utf8')}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  }

  /** Returns what the program prints. If the program fails, the test fails. */
  gnt(line: string): string {
    const [program = '', ...args] = line.split(' ')
    const words = this.within([PYTHON, path.join(GANETI_PROGRAMS, `gnt-${program}`), ...args])
    const ended = spawnSync(words[0] ?? '', words.slice(1), { env: this.environment(), encoding: 'utf8' })
    expect({ line, code: ended.status, stderr: ended.stderr }).toEqual({ line, code: 0, stderr: '' })
    return ended.stdout
  }

  async stop(): Promise<void> {
    for (const child of this.running.splice(0).toReversed()) {
      const ended = new Promise((resolve) => child.once('close', resolve))
      if (child.exitCode === null && child.signalCode === null && child.kill('SIGTERM')) await ended
    }
  }

  async remove(): Promise<void> {
    await this.stop()
    fs.rmSync(this.folder, { recursive: true })
  }

  private put = (name: string, text: string) => fs.writeFileSync(path.join(this.folder, name), text)

  private environment = () => ({
    ...{ ...process.env, GANETI_ROOTDIR: this.paths.root, GANETI_HOSTNAME: this.hostname },
    PYTHONDONTWRITEBYTECODE: '1',
  })

  private within(words: readonly string[]): string[] {
    const binds = [
      [path.join(this.folder, 'passwd'), '/etc/passwd'],
      [path.join(this.folder, 'group'), '/etc/group'],
      [path.join(GANETI, 'share/ganeti'), '/usr/share/ganeti'],
    ].map(([from, to]) => `mount --bind ${from} ${to}`)
    return ['unshare', '--mount', 'sh', '-c', `${binds.join(' && ')} && exec "$@"`, 'sh', ...words]
  }
}

const answers = (file: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect(file)
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
