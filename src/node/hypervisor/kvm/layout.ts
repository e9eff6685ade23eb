// Ganeti's places for a KVM instance's files on its node, and their local paths.
import { createHash } from 'node:crypto'
import { checkSocketPath } from '../../../lib/net/json-socket'
import type { Paths } from '../../../lib/paths'
import { PATH } from '../../../model/constants/paths'
import { HypervisorFailure, type HypervisorContext } from '../hypervisor'

export const { KVM_DIR, LOG_KVM_DIR: KVM_LOG_DIR } = PATH
const SPICE_FILES = `(?:${PATH.SPICE_CERT_FILE}|${PATH.SPICE_CACERT_FILE})`
const RUN_DIRS_MODE = 0o775
/** Maximum bytes of a Unix socket's path. */
const SOCKET_PATH_MAX = 107
/** Bytes for the name of a socket in a folder. */
const SOCKET_NAME_MAX = 14

export const RUNTIME = '.runtime'
export const SHUTDOWN = '.shutdown'
const SOCKET_KINDS = ['monitor', 'serial', 'qmp', 'kvmd', 'qga'] as const
export type SocketKind = (typeof SOCKET_KINDS)[number]

export class KvmLayout {
  private readonly base: string
  private readonly paths: Paths

  constructor(readonly host: Pick<HypervisorContext, 'paths' | 'files' | 'processes' | 'clock'>) {
    this.paths = host.paths
    this.base = this.paths.local(KVM_DIR)
  }

  readonly pidDir = () => `${this.base}/pid`
  readonly pidFile = (name: string) => this.file('pid', name)
  readonly uidDir = () => `${this.base}/uid`
  readonly uidFile = (name: string) => this.file('uid', name)
  readonly runtimeDir = () => `${this.base}/conf`
  /** It exists before the machine and its sockets. */
  readonly runtimeFile = (name: string) => this.file('conf', name, RUNTIME)
  /** It exists if the guest was shut down from inside. */
  readonly shutdownFile = (name: string) => this.file('ctrl', name, SHUTDOWN)
  readonly seedFile = (name: string) => this.file('seed', name, '.iso')
  readonly controlDir = () => `${this.base}/ctrl`
  readonly nicDir = (name: string) => this.file('nic', name)
  readonly nicFile = (name: string, index: number) => `${this.nicDir(name)}/${index}`
  readonly chrootDir = (name: string) => this.file('chroot', name)
  readonly relayDir = () => `${this.base}/relay`
  /** The process of a migration's relay. */
  readonly relayFile = (name: string) => this.file('relay', name)
  readonly relayLog = (name: string) => `${this.paths.local(KVM_LOG_DIR)}/${checked(name)}.migration.log`
  readonly logFile = (name: string) => `${this.paths.local(KVM_LOG_DIR)}/${checked(name)}.log`

  /**
   * Ganeti's name. If that would be too long for a socket address, below a long virtual root, a short one made from it.
   */
  socket(name: string, kind: SocketKind): string {
    const plain = this.file('ctrl', name, `.${kind}`)
    if (Buffer.byteLength(plain) <= SOCKET_PATH_MAX) return plain
    const shorter = `${this.base}/ctrl/${short(name)}.${kind}`
    checkSocketPath(shorter)
    return shorter
  }

  /** For the socket between QEMU and a migration's relay: QEMU's user owns it. */
  relayFolder(name: string, chroot?: string): string {
    if (chroot !== undefined) return `${chroot}/.migration`
    const plain = this.file('migration', name)
    return Buffer.byteLength(plain) + SOCKET_NAME_MAX <= SOCKET_PATH_MAX
      ? plain
      : `${this.base}/migration/${short(name)}`
  }

  async removeRelay(name: string): Promise<void> {
    await this.host.files.rm(this.relayFile(name), { force: true })
    for (const folder of [this.relayFolder(name), this.relayFolder(name, this.chrootDir(name))])
      await this.host.files.rm(folder, { recursive: true, force: true })
  }

  /** The local form of a stored command's argument. */
  localize(argument: string): string {
    if (this.paths.root === '') return argument
    return SOCKET_KINDS.reduce((text, kind) => this.localizeSockets(text, kind), argument)
      .replace(new RegExp(`^(?=(?:${KVM_DIR}|${KVM_LOG_DIR})/)`), this.paths.root)
      .replaceAll(
        new RegExp(`(?<=[=:])(?=(?:${KVM_DIR}|${KVM_LOG_DIR})/|${SPICE_FILES}(?:,|$))`, 'g'),
        optionValue(this.paths.root),
      )
  }

  /** The local form of a link in the runtime data. */
  localLink(link: string): string {
    return this.paths.local(link)
  }

  virtualLink(link: string): string {
    return this.paths.virtual(link)
  }

  async createDirectories(): Promise<void> {
    const directories = ['pid', 'uid', 'ctrl', 'conf', 'nic', 'chroot', 'seed', 'migration'].map(
      (part) => `${this.base}/${part}`,
    )
    for (const directory of [...directories, this.paths.local(KVM_LOG_DIR)])
      await this.host.files.mkdir(directory, { recursive: true, mode: RUN_DIRS_MODE })
  }

  /** Everything except the log. The chroot only if it is empty, since somebody may want what a guest left there. */
  async removeInstance(name: string): Promise<void> {
    const files = [this.pidFile(name), this.uidFile(name), this.runtimeFile(name), this.shutdownFile(name)]
    for (const file of [...files, this.seedFile(name), ...SOCKET_KINDS.map((kind) => this.socket(name, kind))])
      await this.host.files.rm(file, { force: true })
    await this.host.files.rm(this.nicDir(name), { recursive: true, force: true })
    await this.removeRelay(name)
    await this.host.files.rmdir(this.chrootDir(name)).catch(() => undefined)
  }

  private localizeSockets(text: string, kind: SocketKind): string {
    const pattern = new RegExp(`${KVM_DIR}/ctrl/([^,/]+)\\.${kind}\\b`, 'g')
    return text.replaceAll(pattern, (_match, name: string) => optionValue(this.socket(name, kind)))
  }

  private file(part: string, name: string, suffix = ''): string {
    return `${this.base}/${part}/${checked(name)}${suffix}`
  }
}

const short = (name: string): string => createHash('sha1').update(name).digest('hex').slice(0, 10)

function checked(name: string): string {
  if (name !== '' && !name.startsWith('.') && !/[/\0,]/.test(name)) return name
  throw new HypervisorFailure(`Not an instance name: ${JSON.stringify(name)}`)
}

/** Doubles a comma inside a value of a QEMU option. */
export const optionValue = (value: string): string => value.replaceAll(',', ',,')
