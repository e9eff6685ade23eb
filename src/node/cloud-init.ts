// The seed for a guest's cloud-init: made at each start from the instance's current name, NICs and OS parameters.
import { isMissing } from '../lib/disk'
import { iso9660 } from '../lib/file/iso9660'
import { dictOf } from '../lib/shapes/containers'
import { string } from '../lib/shapes/leaves'
import { CLOUD_INIT, type OsParameters, wantsCloudInit } from '../model/cloud-init/parameters'
import { noCloudSeed } from '../model/cloud-init/seed'
import { PATH } from '../model/constants/paths'
import type { InstanceDict } from '../rpc/node/dicts'
import type { NodeContext } from './context'
import { NodeFailure } from './failure'
import { findOs } from './os-definition'

type SeedContext = Pick<NodeContext, 'paths' | 'files' | 'disk' | 'osSearchPath' | 'machineOsPath'>

/** cloud-init finds the disk by this label. */
const LABEL = 'cidata'
const SECRETS_DIR = `${PATH.RUN_DIR}/cloud-init`

/** Undefined if neither the OS definition nor the parameters ask for one. */
export async function seedDisk(context: SeedContext, instance: InstanceDict): Promise<Uint8Array | undefined> {
  const params = { ...(await keptSecrets(context, instance.name)), ...parametersOf(instance) }
  if (!(await asksForSeed(context, instance.os, params))) return undefined
  return iso9660(LABEL, { ...noCloudSeed(instance, params) })
}

/**
 * Only the call that installs an instance has its secret parameters, and the seed is made when the instance starts. So
 * until then they stay in a file in memory, which is removed after the first start.
 */
export async function keepSecrets(context: SeedContext, instance: InstanceDict): Promise<void> {
  if (!(await asksForSeed(context, instance.os, parametersOf(instance)))) return
  const directory = context.paths.local(SECRETS_DIR)
  await context.files.mkdir(directory, { recursive: true, mode: 0o700 })
  const text = JSON.stringify(instance.osparams_private ?? {})
  await context.disk.write(secretsFile(context, instance.name), text, { mode: 0o600, durable: false })
}

export async function forgetSecrets(context: SeedContext, name: string): Promise<void> {
  await context.files.rm(secretsFile(context, name), { force: true })
}

async function keptSecrets(context: SeedContext, name: string): Promise<OsParameters> {
  try {
    return dictOf(string).parse(JSON.parse(await context.files.readFile(secretsFile(context, name), 'utf8')))
  } catch (error) {
    if (isMissing(error)) return {}
    throw error
  }
}

const parametersOf = ({ osparams, osparams_private }: InstanceDict): OsParameters => ({
  ...osparams,
  ...osparams_private,
})

async function asksForSeed(context: SeedContext, os: string, params: OsParameters): Promise<boolean> {
  return wantsCloudInit(params, os !== '' && (await declaresSeed(context, os)))
}

/** An instance also starts on a node where its OS definition is missing now. */
async function declaresSeed(context: SeedContext, os: string): Promise<boolean> {
  try {
    const { parameters } = await findOs(context, os)
    return parameters.some(([name]) => name === CLOUD_INIT)
  } catch (error) {
    if (error instanceof NodeFailure) return false
    throw error
  }
}

const secretsFile = ({ paths }: SeedContext, name: string): string => paths.local(`${SECRETS_DIR}/${name}.json`)
