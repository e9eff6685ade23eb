// Sends an instance's disks to another cluster, which waits for them.
import { isIPv6 } from 'node:net'
import { ECODE, OpPrereqError } from '../../model/errors'
import { verifiedCertificate, verifiedDestination, verifiedName, domainSecret } from '../transfer/domain-secret'
import type { Destination } from '../transfer/domain-secret'
import { progressText } from '../transfer/copy'
import { TransferEnd } from '../transfer/end'
import { dictOf, type InstanceView } from '../instance/view'
import type { OpBackupExport } from '../../opcodes/backup'
import type { Op } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { diskEnd, type ExportResult } from './local'

export type ExportOp = Op<typeof OpBackupExport>

export interface RemoteTarget {
  readonly keyName: string
  /** PEM of the receiving node's certificate. */
  readonly ca: string
  readonly disks: readonly Destination[]
}

/** Everything from the other cluster is signed with the shared secret. */
export async function verifiedTarget(ctx: UnitContext, op: ExportOp, view: InstanceView): Promise<RemoteTarget> {
  const { instance, disks } = view
  const targets = Array.isArray(op.target_node) ? op.target_node : []
  if (targets.length !== disks.length)
    throw new OpPrereqError(
      `Received destination information for ${targets.length} disks, but instance ${instance.name} has ${disks.length} disks`,
      ECODE.INVAL,
    )
  const secret = await domainSecret(ctx)
  return {
    keyName: verifiedName(secret, op.x509_key_name),
    ca: verifiedCertificate(ctx, secret, op.destination_x509_ca ?? '', 'destination X509 CA'),
    disks: targets.map((target, index) => verifiedDestination(secret, index, target)),
  }
}

export async function sendToCluster(
  ctx: UnitContext,
  view: InstanceView,
  target: RemoteTarget,
  options: { compress: string; connectTimeout_s: number },
): Promise<ExportResult> {
  const sent = await Promise.all(target.disks.map((disk, index) => sendDisk(ctx, view, target, disk, index, options)))
  return [true, sent]
}

async function sendDisk(
  ctx: UnitContext,
  view: InstanceView,
  { keyName, ca }: RemoteTarget,
  { host, port, magic }: Destination,
  index: number,
  { compress, connectTimeout_s }: { compress: string; connectTimeout_s: number },
): Promise<boolean> {
  const { primary } = view
  ctx.log.say(`Sending disk ${index} to ${host}:${port}`)
  const options = { key_name: keyName, ca_pem: ca, magic, compress, ipv6: isIPv6(host) }
  const outcome = await new TransferEnd(ctx, {
    ...{ node: primary, mode: 'export', connectTimeout_s },
    start: () =>
      ctx.nodes.attempt(primary, 'export_start', [
        ...([options, host, port, dictOf(view), `disk${index}`] as const),
        diskEnd(view, index),
      ]),
    connected: () => ctx.log.say(`Disk ${index} is now sending data`),
    progress: (status) => ctx.log.say(`Disk ${index} sent ${progressText(status)}`),
  }).run()
  const { ok, message, recentOutput } = outcome
  if (ok) ctx.log.say(`Disk ${index} finished sending data`)
  else ctx.log.say(`Disk ${index} failed to send data: ${message} (recent output: ${recentOutput})`)
  return ok
}
