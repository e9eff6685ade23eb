// Whether this node reaches others by ssh, as the cluster's tools do. Virtual nodes share one machine and have no ssh of their own.
import { runCommand } from '../lib/run-command'
import { PATH } from '../model/constants/paths'
import { isRecord } from '../rpc/node/codecs'
import type { NodeContext } from './context'
import { isVirtualNode } from './network'

const SSH_S = 30

/** `[nodes, {node: [nodes of other groups]}, candidates]` -> what is wrong, by node. Only candidates look. */
export async function sshProblems(
  context: NodeContext,
  input: unknown,
  clusterName: string,
): Promise<Record<string, string>> {
  const [nodes, others, candidates] = Array.isArray(input) ? (input as unknown[]) : []
  if (isVirtualNode(context.paths)) return {}
  if (Array.isArray(candidates) && !candidates.includes(context.hostname)) return {}
  const extra = isRecord(others) ? others[context.hostname] : []
  const names = [nodes, extra].flatMap((list) => (Array.isArray(list) ? list.map(String) : []))
  const found = await Promise.all(
    names.map(async (name) => [name, await sshProblem(context, name, clusterName)] as const),
  )
  return Object.fromEntries(found.filter((pair): pair is [string, string] => pair[1] !== undefined))
}

async function sshProblem(context: NodeContext, node: string, clusterName: string): Promise<string | undefined> {
  const port = context.ssconf.lines('ssh_ports').find((line) => line.startsWith(`${node}=`))
  const options = [
    'BatchMode=yes',
    'StrictHostKeyChecking=yes',
    'CheckHostIp=no',
    'HashKnownHosts=no',
    `HostKeyAlias=${clusterName}`,
    `GlobalKnownHostsFile=${context.paths.local(PATH.SSH_KNOWN_HOSTS_FILE)}`,
    'UserKnownHostsFile=/dev/null',
    `Port=${port?.split('=')[1] ?? '22'}`,
  ]
  const argv = ['ssh', ...options.map((option) => `-o${option}`), '--', `root@${node}`, 'hostname', '--fqdn']
  const { code, stdout, output, timedOut } = await runCommand(argv, { timeout_s: SSH_S })
  if (timedOut) return `ssh problem: no answer within ${SSH_S} s`
  if (code !== 0) return `ssh problem: ${output.trim() || `exit code ${code}`}`
  const name = stdout.trim()
  return name === node || node.startsWith(`${name}.`)
    ? undefined
    : `hostname mismatch: expected ${node} but got ${name}`
}
