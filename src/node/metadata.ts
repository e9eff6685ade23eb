// Supplies this node's metad with the data of its instances. metad runs only if an instance uses communication.
import { isServed } from '../lib/net/json-socket'
import { errorText } from '../lib/system-failure'
import { isCommunicationNic } from '../model/constants/communication'
import type { Metad } from '../rpc/metad/calls'
import { openMetad } from '../rpc/metad/client'
import type { InstanceDict, MetadataDict } from '../rpc/node/dicts'
import { programOf } from '../roles/table'
import type { NodeContext } from './context'

const PROGRAM = programOf('metad')

/** Sends everything that the guest may ask for, including private and secret OS parameters. */
export async function modifyMetadata(context: NodeContext, instance: MetadataDict): Promise<void> {
  // An instance without communication needs no daemon; one that no longer has it is forgotten.
  if (!instance.nics.some(isCommunicationNic)) return forgetGuest(context, instance.name)
  const metad = await startedMetad(context)
  const isInstalled = (instance.osparams_private ?? instance.osparams_secret) !== undefined
  await (isInstalled ? metad.updateConfig(instance) : metad.gantryShow(instance))
}

/** The instance is about to run here. It also runs without metad. */
export async function showGuest(context: NodeContext, instance: InstanceDict): Promise<void> {
  if (!instance.nics.some(isCommunicationNic)) return
  // Private parameters were for its scripts, not for its guest.
  const { osparams_private: _hidden, ...displayed } = instance
  await orWarn(context, instance.name, async () => (await startedMetad(context)).gantryShow(displayed))
}

/** The instance no longer runs here. */
export async function forgetGuest(context: NodeContext, instanceName: string): Promise<void> {
  const { files, paths } = context
  const note = `${paths.metadataDir}/${instanceName}`
  if (!files.existsSync(note)) return
  await orWarn(context, instanceName, async () => {
    if (await isServed(paths.socket('metad'))) await metadOf(context).gantryForget(instanceName)
    else await files.rm(note, { force: true })
  })
}

/** Instances that ran before this daemon's start may keep asking. */
export async function resumeMetad(context: NodeContext): Promise<void> {
  const known = await context.disk.list(context.paths.metadataDir)
  if (known.length > 0) await orWarn(context, known.join(', '), async () => void (await startedMetad(context)))
}

async function startedMetad(context: NodeContext): Promise<Metad> {
  if (!(await isServed(context.paths.socket('metad')))) await context.daemons.ensure(PROGRAM, true)
  return metadOf(context)
}

const metadOf = ({ paths, clock }: NodeContext): Metad => openMetad({ path: paths.socket('metad'), clock })

async function orWarn({ log }: NodeContext, instance: string, work: () => Promise<void>): Promise<void> {
  await work().catch((error: unknown) =>
    log.warn({ instance, failure: errorText(error) }, 'the metadata daemon could not be told of an instance'),
  )
}
