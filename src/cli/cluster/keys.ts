// The cluster's name and its keys.
import { OpClusterRename, OpClusterRenewCrypto } from '../../opcodes/cluster'
import { readRenewal, replaceFiles } from './secrets'
import type { Call } from '../command'
import { CommandFailure, EXIT } from '../outcome'
import { confirm } from '../input/confirm'
import { firstArgument, opcodeOf } from '../submit/submit'

export async function renameCluster(call: Call): Promise<number> {
  const name = firstArgument(call)
  const info = await call.master.queryClusterInfo()
  const question = `This will rename the cluster from '${String(info['name'])}' to '${name}'. Its address may change with its name; whoever uses the old one loses the connection. Continue?`
  if (!(await confirm(call, question))) return EXIT.failure
  const result = await call.jobs.run(opcodeOf(OpClusterRename, { name }))
  if (typeof result === 'string' && result !== '')
    call.terminal.out(`Cluster renamed from '${String(info['name'])}' to '${result}'`)
  return EXIT.ok
}

export async function renewCrypto(call: Call): Promise<number> {
  const { options, terminal } = call
  const renewal = await readRenewal(call)
  const cluster_certificate = options.flag('new_cluster_cert')
  const node_certificates = options.flag('new_node_cert') || cluster_certificate
  const renew_ssh_keys = options.flag('new_ssh_keys')
  if (renewal === undefined && !node_certificates && !renew_ssh_keys)
    throw new CommandFailure('Select what to renew; gnt-cluster renew-crypto --help lists it')
  const question = 'This renews keys of all nodes. Continue?'
  if (!(await confirm(call, question))) return EXIT.failure
  if (renewal !== undefined) await replaceFiles(call, await renewal())
  if (node_certificates || renew_ssh_keys) {
    const keys = { ...options.parametersOf(OpClusterRenewCrypto), verbose: options.flag('verbose') }
    const desired = { cluster_certificate, node_certificates, renew_ssh_keys, ...keys }
    await call.jobs.run(opcodeOf(OpClusterRenewCrypto, desired))
  }
  terminal.out('Running "gnt-cluster verify" is recommended after this.')
  return EXIT.ok
}
