// What this node's metad knows of the instances here. metad runs where an instance has asked for communication, and not before.
import { isServed } from '../lib/json-socket'
import { errorText } from '../lib/system-failure'
import { isCommunicationNic } from '../model/constants/communication'
import type { Metad } from '../rpc/metad/calls'
import { openMetad } from '../rpc/metad/client'
import type { InstanceDict, MetadataDict } from '../rpc/node/dicts'
import type { NodeContext } from './context'

const PROGRAM = 'ganeti-metad'

/** All that the guest may ask for, private and secret OS parameters, too. */
export async function modifyMetadata(context: NodeContext, instance: MetadataDict): Promise<void> {
  // An instance that does not ask costs no daemon; one that does not ask any more is forgotten.
  if (!instance.nics.some(isCommunicationNic)) return forgetGuest(context, instance.name)
  const metad = await startedMetad(context)
  const isInstalled = (instance.osparams_private ?? instance.osparams_secret) !== undefined
  await (isInstalled ? metad.updateConfig(instance) : metad.gantryShow(instance))
}

/** The instance is about to run here. Without metad it runs all the same. */
export async function showGuest(context: NodeContext, instance: InstanceDict): Promise<void> {
  if (!instance.nics.some(isCommunicationNic)) return
  // What its scripts were told is not for its guest.
  const { osparams_private: _hidden, ...shown } = instance
  await orWarn(context, instance.name, async () => (await startedMetad(context)).gantryShow(shown))
}

/** The instance does not run here any more. */
export async function forgetGuest(context: NodeContext, instanceName: string): Promise<void> {
  const { files, paths } = context
  const note = `${paths.metadataDir}/${instanceName}`
  if (!files.existsSync(note)) return
  await orWarn(context, instanceName, async () => {
    if (await isServed(paths.socket('metad'))) await metadOf(context).gantryForget(instanceName)
    else await files.rm(note, { force: true })
  })
}

/** Instances that ran before this daemon was started may go on asking. */
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
