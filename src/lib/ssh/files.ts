// The SSH keys of a node's root user: its own, and the files with those of others. A virtual node has them below its
// folder.
import type { Clock } from '../clock'
import type { Disk } from '../disk'
import type { Paths } from '../paths'
import type { Run } from '../programs/run-command'
import { formatPublicKeys, parsePublicKeys, type PublicKeys, withAuthorizedKeys, withoutAuthorizedKeys } from './keys'

export const SSH_KEY_TYPES = ['dsa', 'ecdsa', 'rsa'] as const
export type SshKeyType = (typeof SSH_KEY_TYPES)[number]

const DIRECTORY = '/root/.ssh'
const SECRET = { mode: 0o600 }
const KEYGEN_S = 120

export const sshKeyFile = (type: string): string => `${DIRECTORY}/id_${type}`

interface Surroundings {
  readonly paths: Pick<Paths, 'local' | 'hostname' | 'sshPublicKeys'>
  readonly disk: Disk
  readonly clock: Clock
  readonly run: Run
}

export class SshFiles {
  private readonly paths: Surroundings['paths']
  private readonly disk: Disk

  constructor(private readonly surroundings: Surroundings) {
    this.paths = surroundings.paths
    this.disk = surroundings.disk
  }

  authorizedKeys = (): Promise<string> => this.text(this.authorizedFile)

  async authorize(keys: readonly string[]): Promise<void> {
    await this.changeAuthorized((text) => withAuthorizedKeys(text, keys))
  }

  async forbid(keys: readonly string[]): Promise<void> {
    await this.changeAuthorized((text) => withoutAuthorizedKeys(text, keys))
  }

  /** Undefined if this node has no list. */
  async publicKeys(): Promise<Map<string, string[]> | undefined> {
    const list = await this.disk.read(this.paths.sshPublicKeys)
    return list && parsePublicKeys(list.toString('utf8'))
  }

  async writePublicKeys(keys: PublicKeys): Promise<void> {
    await this.disk.write(this.paths.sshPublicKeys, formatPublicKeys(keys), SECRET)
  }

  /** The node's own public key, or undefined. */
  async ownKey(type: string): Promise<string | undefined> {
    const key = (await this.text(`${this.privateKey(type)}.pub`)).trim()
    return key === '' ? undefined : key
  }

  /** Makes a key pair and returns the public key, which may log in here. A suffix keeps it beside the current pair. */
  async generate(type: string, bits: number, suffix = ''): Promise<string> {
    const file = this.privateKey(type) + suffix
    await this.disk.makeDirectory(this.paths.local(DIRECTORY), 0o700)
    await this.setAside(file)
    const argv = ['ssh-keygen', '-q', '-t', type, '-b', String(bits), '-N', '', '-C', `root@${this.paths.hostname}`]
    const { code, output } = await this.surroundings.run([...argv, '-f', file], { timeout_s: KEYGEN_S })
    const key = (await this.text(`${file}.pub`)).trim()
    if (code !== 0 || key === '')
      throw new Error(`Could not generate ssh keypair, error ${output.trim() || `exit code ${code}`}`)
    await this.authorize([key])
    return key
  }

  /** The pair with the suffix replaces all others. */
  async install(type: string, suffix: string): Promise<void> {
    for (const other of SSH_KEY_TYPES) await this.setAside(this.privateKey(other))
    const file = this.privateKey(type)
    await this.disk.rename(file + suffix, file)
    await this.disk.rename(`${file}${suffix}.pub`, `${file}.pub`)
  }

  /** Type, private and public key of each host key of this node. All nodes of a cluster have the same. */
  async hostKeys(): Promise<[SshKeyType, string, string][]> {
    const pairs = await Promise.all(
      SSH_KEY_TYPES.map(async (type): Promise<[SshKeyType, string, string]> => {
        const file = this.hostKey(type)
        return [type, await this.text(file), await this.text(`${file}.pub`)]
      }),
    )
    return pairs.filter(([, secret, known]) => secret !== '' && known !== '')
  }

  async installHostKeys(pairs: readonly (readonly [type: SshKeyType, secret: string, known: string])[]): Promise<void> {
    for (const [type, secret, known] of pairs) {
      const file = this.hostKey(type)
      if ((await this.text(file)) === secret && (await this.text(`${file}.pub`)) === known) continue
      await this.setAside(file)
      await this.disk.write(file, secret, SECRET)
      await this.disk.write(`${file}.pub`, known, { mode: 0o644 })
    }
  }

  /** Other machines may use the keys, so the old ones stay beside the new ones. */
  private async setAside(file: string): Promise<void> {
    const backup = `.backup-${Math.floor(this.surroundings.clock.now_ms())}`
    for (const name of [file, `${file}.pub`])
      if ((await this.disk.read(name)) !== undefined) await this.disk.rename(name, name + backup)
  }

  private async changeAuthorized(change: (text: string) => string): Promise<void> {
    const old = await this.authorizedKeys()
    const text = change(old)
    if (text === old) return
    await this.disk.makeDirectory(this.paths.local(DIRECTORY), 0o700)
    await this.disk.write(this.authorizedFile, text, SECRET)
  }

  private readonly hostKey = (type: SshKeyType): string => this.paths.local(`/etc/ssh/ssh_host_${type}_key`)

  private readonly privateKey = (type: string): string => this.paths.local(sshKeyFile(type))

  private get authorizedFile(): string {
    return this.paths.local(`${DIRECTORY}/authorized_keys`)
  }

  private text = async (file: string): Promise<string> => ((await this.disk.read(file)) ?? '').toString('utf8')
}
