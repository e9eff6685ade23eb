// The cluster's name and its keys.
import { OpClusterRename, OpClusterRenewCrypto } from '../opcodes/cluster'
import { type Call, CommandFailure, EXIT } from './command'
import { confirm } from './confirm'
import { firstArgument, opcodeOf } from './submit'

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

/** Keys of the whole cluster, which cannot be renewed while its daemons use them. */
const OFFLINE_KEYS: readonly (readonly [dest: string, option: string])[] = [
  ['new_cluster_cert', '--new-cluster-certificate'],
  ['new_rapi_cert', '--new-rapi-certificate'],
  ['rapi_cert', '--rapi-certificate'],
  ['new_confd_hmac_key', '--new-confd-hmac-key'],
  ['new_cluster_domain_secret', '--new-cluster-domain-secret'],
  ['cluster_domain_secret', '--cluster-domain-secret'],
  ['new_spice_cert', '--new-spice-certificate'],
  ['spice_cert', '--spice-certificate'],
  ['spice_cacert', '--spice-ca-certificate'],
]

export async function renewCrypto(call: Call): Promise<number> {
  const { options } = call
  const offline = OFFLINE_KEYS.filter(([dest]) => options.raw(dest) !== undefined && options.raw(dest) !== false)
  if (offline.length > 0)
    throw new CommandFailure(
      `${offline.map(([, option]) => option).join(' and ')}: this version renews certificates and SSH keys of nodes only`,
    )
  const [node_certificates, renew_ssh_keys] = [options.flag('new_node_cert'), options.flag('new_ssh_keys')]
  if (!node_certificates && !renew_ssh_keys)
    throw new CommandFailure('Select what to renew: --new-node-certificates, --new-ssh-keys, or both')
  const question = 'This renews keys of all nodes. Continue?'
  if (!(await confirm(call, question))) return EXIT.failure
  const { ssh_key_type, ssh_key_bits } = {
    ssh_key_type: options.text('ssh_key_type'),
    ssh_key_bits: options.number('ssh_key_bits'),
  }
  await call.jobs.run(
    opcodeOf(OpClusterRenewCrypto, {
      ...{ node_certificates, renew_ssh_keys, ssh_key_type, ssh_key_bits },
      verbose: options.flag('verbose'),
    }),
  )
  return EXIT.ok
}
