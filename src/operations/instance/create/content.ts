// Fills the disks of a new instance: with a new system, an export, or a stream from another cluster.
import { isIPv6 } from 'node:net'
import { ELOG_REMOTE_IMPORT, RIE_CERT_VALIDITY_S, RIE_CONNECT_TIMEOUT_S } from '../../../model/constants/exports'
import type { ConfigData } from '../../../model/config'
import { ECODE, OpExecError, OpPrereqError } from '../../../model/errors'
import { diskEnd } from '../../backup/local'
import type { HookEnv } from '../../logical-unit'
import { checkCompressionTool, copyDisks, diskMagic } from '../../transfer/copy'
import {
  checkHandshake,
  domainSecret,
  newSalt,
  signCertificate,
  signDestination,
  verifiedCertificate,
  type Destination,
} from '../../transfer/domain-secret'
import { TransferEnd } from '../../transfer/end'
import { removeKey } from '../../transfer/key'
import { recordValues } from '../../../config/records'
import type { UnitContext } from '../../unit-context'
import type { CreateOp } from './plan'
import { waitForSync } from '../disks/sync'
import { givenSource, imagesOf, readSource, withExport, type ImportSource } from './import'
import { dictOf, type InstanceView } from '../view'

export type Content =
  | { readonly kind: 'new' }
  | { readonly kind: 'export'; readonly source: ImportSource }
  /** `ca` is the sender's certificate. */
  | { readonly kind: 'remote'; readonly oldName: string; readonly ca: string; readonly secret: string }

export async function contentOf(
  ctx: UnitContext,
  op: CreateOp,
  config: ConfigData,
): Promise<{ op: CreateOp; content: Content }> {
  if (op.mode === 'create') return { op, content: { kind: 'new' } }
  checkCompressionTool(config.cluster, op.compress)
  if (op.no_install) ctx.log.info('No-installation mode has no effect during import')
  if (op.mode === 'remote-import') return { op, content: await remoteContent(ctx, op) }
  const source = await readSource(ctx, op)
  const isCopy = op.instance_name !== source.oldName && (await isThere(ctx, source.oldName))
  const full = withExport(op, source, config, isCopy)
  if (full.disk_template !== op.disk_template) ctx.note({ disk_template: full.disk_template })
  return { op: full, content: { kind: 'export', source } }
}

async function isThere(ctx: UnitContext, name: string): Promise<boolean> {
  const { instances } = await ctx.config.read({ instances: [name] })
  return recordValues(instances).some((instance) => instance.name === name)
}

/** Nodes that may have the export. */
export async function sourceNodes(ctx: UnitContext, { nodes }: ConfigData, op: CreateOp): Promise<string[]> {
  const node = await givenSource(ctx, op)
  return node === undefined ? Object.keys(nodes) : [node.uuid]
}

async function remoteContent(ctx: UnitContext, op: CreateOp): Promise<Content> {
  const secret = await domainSecret(ctx)
  const refuse = (text: string) => new OpPrereqError(text, ECODE.INVAL)
  if (op.source_handshake === undefined) throw refuse('Missing source handshake')
  checkHandshake(secret, op.source_handshake)
  if (op.source_x509_ca === undefined) throw refuse('Missing source X509 CA')
  const ca = verifiedCertificate(ctx, secret, op.source_x509_ca, 'source X509 CA')
  if (op.source_instance_name === undefined) throw refuse('Missing source instance name')
  return { kind: 'remote', oldName: op.source_instance_name, ca, secret }
}

export const contentEnv = (content: Content, view: InstanceView): HookEnv =>
  content.kind !== 'export'
    ? {}
    : {
        SRC_NODE: content.source.node.name,
        SRC_PATH: content.source.directory,
        SRC_IMAGES: imagesOf(content.source, view.disks.length).map((image) => image ?? false),
      }

/** Fills the disks. On failure the instance stays, stopped: the data that arrived may be the only copy. */
export async function importDisks(
  ctx: UnitContext,
  view: InstanceView,
  content: Exclude<Content, { kind: 'new' }>,
  op: CreateOp,
): Promise<void> {
  const { instance, primary } = view
  if (view.disks.length === 0) return
  await waitForSync(ctx, view)
  const whole =
    content.kind === 'export'
      ? await copyFromExport(ctx, view, content.source, op.compress)
      : await receive(ctx, view, content, op)
  if (!whole.every((ok) => ok)) {
    ctx.log.warning(`Some disks for instance ${instance.name} on node ${primary.name} were not imported successfully`)
    throw new OpExecError(
      `Not all disks of instance ${instance.name} were imported; it stays in the configuration, stopped: remove it and try again`,
    )
  }
  if (instance.os === '') return
  const oldName = content.kind === 'export' ? content.source.oldName : content.oldName
  ctx.log.say(`Running rename script for ${instance.name}`)
  const args = [dictOf(view), oldName, op.debug_level ?? 0] as const
  const renamed = await ctx.nodes.attempt(primary, 'instance_run_rename', [...args])
  if (!renamed.ok)
    ctx.log.warning(`Failed to run rename script for ${instance.name} on node ${primary.name}: ${renamed.error}`)
}

/** A disk without an image in the export stays empty. */
async function copyFromExport(
  ctx: UnitContext,
  view: InstanceView,
  source: ImportSource,
  compress: string,
): Promise<boolean[]> {
  ctx.log.say('* running the instance OS import scripts...')
  const transfers = imagesOf(source, view.disks.length).map((image, index) =>
    image === undefined
      ? undefined
      : { name: `disk/${index}`, source: ['file', [image]] as const, target: diskEnd(view, index) },
  )
  const plan = { from: source.node, to: view.primary, instance: dictOf(view), compress }
  const copied = await copyDisks(ctx, plan, transfers)
  return copied.filter((_, index) => transfers[index] !== undefined)
}

async function receive(
  ctx: UnitContext,
  view: InstanceView,
  { ca, secret }: Extract<Content, { kind: 'remote' }>,
  op: CreateOp,
): Promise<boolean[]> {
  ctx.log.say('* preparing remote import...')
  const { primary } = view
  const what = `Can't create X509 key and certificate on ${primary.name}`
  const [keyName, certificate] = await ctx.nodes.call(primary, what, 'x509_cert_create', [RIE_CERT_VALIDITY_S])
  try {
    const announcement = new Announcement(ctx, secret, certificate, view.disks.length)
    const base = ctx.env.random.hex(6)
    const ends = view.disks.map((_, index) => {
      const magic = diskMagic(base, { instance: dictOf(view) }, index)
      const listening = (port: number) => announcement.listening(index, { host: primary.primary_ip, port, magic })
      return receivingEnd(ctx, view, op, index, { options: { key_name: keyName, ca_pem: ca, magic }, listening })
    })
    return await Promise.all(
      ends.map(async (end, index) => {
        const ok = await received(ctx, end, index)
        // The sender will never learn the other disks' addresses.
        if (!ok && !announcement.made) await Promise.all(ends.map((other) => other.abort()))
        return ok
      }),
    )
  } finally {
    await removeKey(ctx, primary, keyName)
  }
}

function receivingEnd(
  ctx: UnitContext,
  view: InstanceView,
  op: CreateOp,
  index: number,
  how: { options: { key_name: string; ca_pem: string; magic: string }; listening(port: number): void },
): TransferEnd {
  const { primary } = view
  // The sender stops its instance before it connects.
  const connectTimeout_s = RIE_CONNECT_TIMEOUT_S + op.source_shutdown_timeout
  const more = { compress: op.compress, ipv6: isIPv6(primary.primary_ip), connect_timeout: connectTimeout_s }
  return new TransferEnd(ctx, {
    ...{ node: primary, mode: 'import', connectTimeout_s },
    start: () =>
      ctx.nodes.attempt(primary, 'import_start', [
        ...([{ ...how.options, ...more }, dictOf(view), `disk${index}`] as const),
        diskEnd(view, index),
      ]),
    listening(port) {
      ctx.log.say(`Disk ${index} is now listening`)
      how.listening(port)
    },
    connected: () => ctx.log.say(`Disk ${index} is now receiving data`),
  })
}

async function received(ctx: UnitContext, end: TransferEnd, index: number): Promise<boolean> {
  const { ok, message, recentOutput } = await end.run()
  if (ok) ctx.log.say(`Disk ${index} finished receiving data`)
  else ctx.log.say(`Disk ${index} failed to receive data: ${message} (recent output: ${recentOutput})`)
  return ok
}

/** Tells the sender where to send when all disks can be received: a special entry in the job's log. */
class Announcement {
  made = false
  private readonly disks = new Map<number, Destination>()

  constructor(
    private readonly ctx: UnitContext,
    private readonly secret: string,
    private readonly certificate: string,
    private readonly count: number,
  ) {}

  listening(index: number, destination: Destination): void {
    this.disks.set(index, destination)
    if (this.disks.size < this.count) return
    this.made = true
    const salt = newSalt(this.ctx)
    const disks = [...this.disks].sort(([one], [other]) => one - other)
    this.ctx.env.log(ELOG_REMOTE_IMPORT, {
      disks: disks.map(([number, to]) => signDestination(this.secret, salt, number, to)),
      x509_ca: signCertificate(this.secret, this.certificate, newSalt(this.ctx)),
    })
  }
}
