// Copies an instance's disks from one node of the cluster to another, or to an export and back.
import { durationText } from '../../lib/text/duration-text'
import { sha1 } from '../../lib/hmac'
import { DISK_TRANSFER_CONNECT_TIMEOUT_S } from '../../model/constants/exports'
import { RIE_VERSION } from '../../model/constants/versions'
import type { Cluster, Node } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import type { ImpExpEnd, ImpExpOptions, ImpExpStatus, InstanceDict } from '../../rpc/node/dicts'
import { sizeText } from '../instance/disks/files'
import type { UnitContext } from '../unit-context'
import { TransferEnd, type EndOutcome } from './end'

export interface DiskTransfer {
  /** The name for users: `disk/0`. */
  readonly name: string
  readonly source: ImpExpEnd
  readonly target: ImpExpEnd
  /** Called when the source has finished, successfully or not. */
  sent?(): Promise<void>
}

export interface CopyPlan {
  readonly from: Node
  readonly to: Node
  readonly instance: InstanceDict
  readonly compress: string
}

const MAGIC_BYTES = 6

/** Copies all at once. Returns for each whether it arrived complete; `undefined` for a disk that is not transferred. */
export async function copyDisks(
  ctx: UnitContext,
  plan: CopyPlan,
  transfers: readonly (DiskTransfer | undefined)[],
): Promise<boolean[]> {
  const base = ctx.env.random.hex(MAGIC_BYTES)
  return Promise.all(
    transfers.map(async (transfer, index) => {
      if (transfer === undefined) return false
      return copyDisk(ctx, plan, transfer, index, { compress: plan.compress, magic: diskMagic(base, plan, index) })
    }),
  )
}

/** The first bytes of a disk's stream. */
export const diskMagic = (base: string, { instance }: Pick<CopyPlan, 'instance'>, index: number): string =>
  sha1(`${RIE_VERSION}${base}${instance.name}${index}`)

async function copyDisk(
  ctx: UnitContext,
  { from, to, instance }: CopyPlan,
  transfer: DiskTransfer,
  index: number,
  options: ImpExpOptions,
): Promise<boolean> {
  const { name } = transfer
  const component = `disk${index}`
  const connectTimeout_s = DISK_TRANSFER_CONNECT_TIMEOUT_S
  ctx.log.say(`Exporting ${name} from ${from.name} to ${to.name}`)
  let sending: Promise<EndOutcome> | undefined
  let source: TransferEnd | undefined
  const send = (port: number): void => {
    ctx.log.say(`${name} is now listening, starting export`)
    source = new TransferEnd(ctx, {
      ...{ node: from, mode: 'export', connectTimeout_s },
      start: () =>
        ctx.nodes.attempt(from, 'export_start', [options, to.secondary_ip, port, instance, component, transfer.source]),
      connected: () => ctx.log.say(`${name} is sending data on ${from.name}`),
      progress: (status) => ctx.log.say(`${name} sent ${progressText(status)}`),
    })
    sending = source.run().then(async (outcome) => {
      tell(ctx, name, outcome, 'sending', 'send')
      await transfer.sent?.()
      if (!outcome.ok) await target.abort()
      return outcome
    })
  }
  const target = new TransferEnd(ctx, {
    ...{ node: to, mode: 'import', connectTimeout_s },
    start: () =>
      ctx.nodes.attempt(to, 'import_start', [
        { ...options, connect_timeout: connectTimeout_s },
        instance,
        component,
        transfer.target,
      ]),
    listening: send,
    connected: () => ctx.log.say(`${name} is receiving data on ${to.name}`),
  })
  const received = await target.run()
  tell(ctx, name, received, 'receiving', 'receive')
  if (!received.ok) await source?.abort()
  // Where the sender has failed, only it knows why.
  const sent = await sending
  return received.ok && sent?.ok === true
}

/** `doing` and `verb` are forms of the same verb. */
function tell(ctx: UnitContext, name: string, outcome: EndOutcome, doing: string, verb: string): void {
  if (outcome.ok) ctx.log.say(`${name} finished ${doing} data`)
  else ctx.log.say(`${name} failed to ${verb} data: ${outcome.message} (recent output: ${outcome.recentOutput})`)
}

export function progressText({ progress_mbytes, progress_throughput, ...rest }: ImpExpStatus): string {
  const { progress_percent: percent, progress_eta: eta } = rest
  return [
    sizeText(Math.round(progress_mbytes ?? 0)),
    `${(progress_throughput ?? 0).toFixed(1)} MiB/s`,
    ...(percent === undefined ? [] : [`${Math.floor(percent)}%`]),
    ...(eta === undefined ? [] : [`ETA ${durationText(eta)}`]),
  ].join(', ')
}

/** Nodes run the given command, so only tools that the cluster knows are allowed. */
export function checkCompressionTool(cluster: Cluster, tool: string): void {
  const allowed = cluster.compression_tools
  if (tool !== 'none' && !allowed.includes(tool))
    throw new OpPrereqError(`Compression tool not allowed, tools allowed are [${allowed.join(', ')}]`, ECODE.INVAL)
}
