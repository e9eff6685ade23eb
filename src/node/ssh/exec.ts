// How noded runs commands on other nodes over SSH: as root, with this node's own key, and without asking anybody.
import { isIPv6 } from 'node:net'
import type { CommandResult } from '../../lib/programs/run-command'
import { sshCommand, type SshOptions } from '../../lib/ssh/ssh'
import { SshFiles } from '../../lib/ssh/files'
import { PORT } from '../../model/constants/daemons'
import { PATH } from '../../model/constants/paths'
import type { NodeContext } from '../context'
import { SSH_S } from '../../model/limits/ssh'

export interface SshCommand {
  /** A line for the other node's shell. */
  readonly line: string
  readonly input?: string
  readonly timeout_s?: number
  /** The cluster's name, if the other node must show the host key known for it. */
  readonly hostAlias?: string
}

export const sshFilesOf = (context: NodeContext): SshFiles => new SshFiles(context)

export function runOverSsh(context: NodeContext, node: string, command: SshCommand): Promise<CommandResult> {
  const { paths, ssconf, run } = context
  const { hostAlias, input, timeout_s = SSH_S } = command
  const port = ssconf.lines('ssh_ports').find((line) => line.startsWith(`${node}=`))
  const address = ssconf.lines('node_primary_ips').find((line) => line.startsWith(`${node} `))
  const options: SshOptions = {
    knownHosts: paths.local(PATH.SSH_KNOWN_HOSTS_FILE),
    port: Number(port?.slice(node.length + 1) ?? PORT.ssh),
    quiet: false,
    ipv6: isIPv6(address?.slice(node.length + 1) ?? ''),
    // Nodes get the common host key when they join; data sent before that is public.
    ...(hostAlias === undefined ? { unknownHosts: 'accept' } : { hostAlias }),
  }
  const argv = sshCommand(paths, { name: node, address: address?.slice(node.length + 1) }, options, command.line)
  return run(argv, { timeout_s, ...(input !== undefined && { input }) })
}

/** How the command failed; undefined on success. */
export function sshFailure({ code, output, timedOut }: CommandResult, timeout_s = SSH_S): string | undefined {
  if (timedOut) return `no answer within ${timeout_s} s`
  return code === 0 ? undefined : output.trim() || `exit code ${code}`
}
