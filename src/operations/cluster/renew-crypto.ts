// OP_CLUSTER_RENEW_CRYPTO: a new certificate of the cluster, new client certificates and new SSH keys for all nodes.
import { change } from '../../config/changes'
import { changeOrAdvise } from '../change-or-advise'
import { masterNode, waitingCertificate } from '../../config/lookup'
import { recordValues } from '../../config/records'
import type { ConfigData, Node } from '../../model/config'
import { PATH } from '../../model/constants/paths'
import { SSH_KEY_BITS } from '../../model/constants/words'
import { ECODE, OpExecError, OpPrereqError } from '../../model/errors'
import { CERTIFICATE_STEP_S } from '../../model/limits/master'
import { OpClusterRenewCrypto } from '../../opcodes/cluster'
import { forgetFormerCertificates, showNewCertificate } from './cluster-certificate'
import { all, exclusive, logicalUnit, type Op } from '../logical-unit'
import type { UnitContext } from '../unit-context'

export const clusterRenewCrypto = logicalUnit(OpClusterRenewCrypto, {
  locks: () => ({ node: exclusive(all) }),
  async check(ctx, op) {
    const config = await ctx.config.read({ nodes: 'all' })
    const master = masterNode(config)
    if (master === undefined) throw new OpPrereqError('The cluster has no master node', ECODE.STATE)
    return { config, master, keys: newKeys(config, op) }
  },
  async run(ctx, op, { config, master, keys }) {
    if (op.cluster_certificate) await renewAll(ctx, config, master)
    else if (op.node_certificates) await renewCertificates(ctx, config, master)
    if (op.renew_ssh_keys && config.cluster.modify_ssh_setup) {
      ctx.log.say('Renewing SSH keys')
      await renewSshKeys(ctx, config, master, keys)
    } else if (op.renew_ssh_keys) {
      ctx.log.say('Cannot renew SSH keys if the cluster is configured to not modify the SSH setup.')
    }
    return null
  },
})

interface SshKeys {
  readonly type: keyof typeof SSH_KEY_BITS
  readonly bits: number
}

function newKeys({ cluster }: ConfigData, op: Op<typeof OpClusterRenewCrypto>): SshKeys {
  const type = op.ssh_key_type ?? cluster.ssh_key_type
  const { standard, valid } = SSH_KEY_BITS[type]
  const bits = op.ssh_key_bits ?? (type === cluster.ssh_key_type ? cluster.ssh_key_bits : standard)
  if (valid(bits)) return { type, bits }
  throw new OpPrereqError(`Invalid key type and bit size combination: ${type} with ${bits} bits`, ECODE.INVAL)
}

/** The cluster's certificate signs the client certificates. */
async function renewAll(ctx: UnitContext, config: ConfigData, master: Node): Promise<void> {
  const nodes = recordValues(config.nodes)
  const others = nodes.filter(({ offline, uuid }) => !offline && uuid !== master.uuid)
  const offline = nodes.filter((node) => node.offline).map(({ name }) => name)
  if (offline.length > 0)
    ctx.log.warning(
      `Nodes that are offline do not get the new cluster certificate: ${offline.join(', ')}. To bring one back, use ` +
        `'gnt-node add --readd'`,
    )
  const online = [...others, master]
  const pem = await showNewCertificate(ctx, online)
  const failed = await renewCertificates(ctx, config, master)
  if (failed.length > 0)
    throw new OpExecError(
      `The former cluster certificate is trusted until all client certificates are renewed; repeat this when these nodes answer`,
    )
  await forgetFormerCertificates(ctx, online, pem)
}

/**
 * All daemons keep running: nodes obey a candidate's old and new certificate until it uses the new one. A node that
 * does not answer keeps its old certificate. Returns the nodes that failed.
 */
async function renewCertificates(ctx: UnitContext, config: ConfigData, master: Node): Promise<string[]> {
  ctx.log.say('Renewing Node SSL certificates')
  const online = recordValues(config.nodes).filter((node) => !node.offline)
  const others = online.filter((node) => node.uuid !== master.uuid)
  const answers = await ctx.nodes.many(others, 'node_crypto_tokens', [[['ssl', 'create', null]]])
  const certs = { ...config.cluster.candidate_certs }
  const failed: string[] = []
  for (const node of others) {
    const answer = answers.get(node.uuid)
    const digest = answer?.ok ? answer.payload[0]?.[1] : undefined
    if (digest === undefined) failed.push(`Node ${node.name}: ${answer?.ok === false ? answer.error : 'no digest'}`)
    else if (node.master_candidate) certs[node.uuid] = digest
  }
  if (failed.length > 0)
    ctx.log.warning(
      `Some nodes' SSL client certificates could not be renewed; see that they are reachable and repeat this:\n${failed.join('\n')}`,
    )
  await changeOrAdvise(ctx, [change('patchCluster', { candidate_certs: certs })], REPEAT)
  await renewMasters(ctx, master, online, certs)
  return failed
}

const REPEAT = "repeat 'gnt-cluster renew-crypto --new-node-certificates'"

const WAITING = { cert_file: PATH.WAITING_CLIENT_CERT_FILE }

async function renewMasters(
  ctx: UnitContext,
  master: Node,
  online: readonly Node[],
  certs: Readonly<Record<string, string>>,
): Promise<void> {
  const what = "Could not renew the master's SSL client certificate"
  const [token] = await ctx.nodes.call(master, what, 'node_crypto_tokens', [[['ssl', 'create', WAITING]]])
  if (token === undefined) throw new OpExecError(`${what}: its node daemon answered with none`)
  const [, digest] = token
  const waiting = waitingCertificate(master.uuid)
  const both = { ...certs, [waiting]: digest }
  const lines = Object.entries(both).map(([uuid, one]) => `${uuid}=${one}`)
  await changeOrAdvise(ctx, [change('patchCluster', { candidate_certs: both })], REPEAT)
  // A configuration that is still on its way to a node is older than the lines below, and must not arrive after them.
  await ctx.env.wconfd.flushConfig()
  const reported = await ctx.nodes.many(online, 'write_ssconf_files', [{ master_candidates_certs: lines }])
  const unaware = online.filter((node) => reported.get(node.uuid)?.ok !== true)
  if (unaware.length > 0) {
    await changeOrAdvise(ctx, [change('patchCluster', { candidate_certs: certs })], REPEAT)
    const names = unaware.map((node) => node.name).join(', ')
    throw new OpExecError(`${what}: ${names} would not obey it, and must be reachable, or be set offline, first`)
  }
  await ctx.nodes.call(master, what, 'node_crypto_tokens', [[['ssl', 'install', WAITING]]])
  await ctx.env.clock.sleep(CERTIFICATE_STEP_S * 1000)
  // An interrupted renewal has left this certificate. The master may still use it.
  const { [waiting]: _, ...others } = certs
  const renewed = { ...others, [master.uuid]: digest }
  await changeOrAdvise(ctx, [change('patchCluster', { candidate_certs: renewed })], REPEAT)
}

async function renewSshKeys(
  ctx: UnitContext,
  config: ConfigData,
  master: Node,
  { type, bits }: SshKeys,
): Promise<void> {
  const old = config.cluster.ssh_key_type
  const nodes = recordValues(config.nodes)
  const online = nodes.filter((node) => !node.offline)
  const result = await ctx.nodes.attempt(master, 'node_ssh_keys_renew', [
    online.map((node) => node.uuid),
    online.map((node) => node.name),
    nodes.filter((node) => node.master_candidate).map((node) => node.uuid),
    nodes.filter((node) => node.master_capable).map((node) => node.name),
    ...([old, type, bits] as const),
  ])
  if (!result.ok)
    throw new OpExecError(
      `Could not renew the SSH keys of all nodes: ${result.error}. Some may have new ones already: repeat 'gnt-cluster renew-crypto --new-ssh-keys' with the same type of keys`,
    )
  for (const [node, message] of result.payload) ctx.log.warning(`SSH keys of node ${node}: ${message}`)
  const advice = "repeat 'gnt-cluster renew-crypto --new-ssh-keys' with the same type of keys"
  await changeOrAdvise(ctx, [change('patchCluster', { ssh_key_type: type, ssh_key_bits: bits })], advice)
}
