// Runs scripts and copies files on nodes, whatever product runs there: over SSH as root, and directly on this node.
import { inheritedEnvironment } from '../lib/environment'
import type { Paths } from '../lib/paths'
import type { Run } from '../lib/programs/run-command'
import { sshCommand, sshOptions, type SshOptions } from '../lib/ssh/ssh'
import type { Cluster } from '../model/cluster'
import { PATH } from '../model/constants/paths'
import { versionOf } from '../model/ip'
import { COPY_S } from '../model/limits/adoption'

export interface Place {
  readonly name: string
  readonly sshPort: number
}

interface Said {
  readonly code: number | null
  readonly output: string
}

export interface NodeShell {
  /** Runs a script of `sh`. */
  run(node: Place, script: string, timeout_s: number): Promise<Said>
  /** Puts files into an existing directory. Rejects with the reason. */
  copy(node: Place, files: readonly string[], directory: string): Promise<void>
}

export function nodeShell(paths: Paths, { cluster_name, primary_ip_family }: Cluster, run: Run): NodeShell {
  const isHere = ({ name }: Place) => name === paths.hostname
  const how = ({ sshPort }: Place): SshOptions => ({
    knownHosts: PATH.SSH_KNOWN_HOSTS_FILE,
    hostAlias: cluster_name,
    ipv6: versionOf(primary_ip_family) === 6,
    port: sshPort,
    quiet: false,
  })
  const env = inheritedEnvironment()
  return {
    async run(node, script, timeout_s) {
      const address = { name: node.name, address: undefined }
      const words = isHere(node) ? ['sh', '-s'] : sshCommand(paths, address, how(node), 'sh -s')
      return run(words, { input: script, timeout_s, env })
    },
    async copy(node, files, directory) {
      const words = isHere(node)
        ? ['cp', '--', ...files, directory]
        : ['scp', '-q', ...sshOptions(how(node)), '--', ...files, `root@${node.name}:${directory}/`]
      const { code, output } = await run(words, { timeout_s: COPY_S, env })
      if (code !== 0) throw new Error(`${node.name}: files cannot be copied to ${directory}: ${output.trim()}`)
    },
  }
}
