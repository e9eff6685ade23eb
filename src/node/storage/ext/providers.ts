// Providers of external storage on this node (spec: constants.json extstorage_interface). A provider is a folder of scripts and a list of
// parameters, which the node's administrator installs.
import * as path from 'node:path'
import { changeableByOthers } from '../../../lib/file/changeable'
import type { NodeContext } from '../../context'
import { ES_SEARCH_PATH } from '../../../model/constants/paths'
import { messageOf } from '../../../rpc/node/protocol'
import { DEFINITION_NAME, isScript, readParameters, subdirectories } from '../../definition-files'
import { fail } from '../../failure'

export type ProviderDiagnosis = [
  name: string,
  path: string,
  ok: boolean,
  message: string,
  parameters: [string, string][],
]

const REQUIRED = ['create', 'remove', 'grow', 'attach', 'detach', 'setinfo', 'verify'] as const
const OPTIONAL = ['open', 'close', 'snapshot'] as const

export type ProviderScript = (typeof REQUIRED | typeof OPTIONAL)[number]

export interface Provider {
  readonly name: string
  /** A local path. */
  readonly directory: string
  readonly parameters: readonly (readonly [name: string, description: string])[]
}

type Places = Pick<NodeContext, 'paths' | 'files'>

export async function diagnoseProviders(places: Places): Promise<ProviderDiagnosis[]> {
  const { paths, files } = places
  const found: ProviderDiagnosis[] = []
  for (const base of ES_SEARCH_PATH.map((directory) => paths.local(directory))) {
    for (const name of await subdirectories(files, base)) {
      const directory = path.join(base, name)
      const displayed = paths.virtual(directory)
      try {
        const { parameters } = await read(places, name, directory)
        found.push([name, displayed, true, '', parameters.map(([one, text]) => [one, text])])
      } catch (error) {
        found.push([name, displayed, false, messageOf(error), []])
      }
    }
  }
  return found
}

/** Returns the first provider of this name in the search path. If there is none that can be used, fails with the reason. */
export async function findProvider(places: Places & Pick<NodeContext, 'hostname'>, name: string): Promise<Provider> {
  const { paths, files, hostname } = places
  if (!DEFINITION_NAME.test(name) || name.startsWith('.'))
    fail(`'${name}' is not a valid name of an external storage provider`)
  for (const base of ES_SEARCH_PATH) {
    const directory = path.join(paths.local(base), name)
    const isThere = await files.stat(directory).then((info) => info.isDirectory(), () => false) // prettier-ignore
    if (!isThere) continue
    try {
      return await read(places, name, directory)
    } catch (error) {
      return fail(
        `External storage provider '${name}' in ${paths.virtual(directory)} on node ${hostname} cannot be used: ${messageOf(error)}`,
      )
    }
  }
  return fail(
    `External storage provider '${name}' is not on node ${hostname}: install it below one of ${ES_SEARCH_PATH.join(', ')}`,
  )
}

async function read(places: Places, name: string, directory: string): Promise<Provider> {
  const { files } = places
  for (const script of REQUIRED)
    if (!(await isScript(files, directory, script))) fail(`there is no executable script ${script}`)
  for (const script of [...REQUIRED, ...OPTIONAL]) await checkOwner(places, path.join(directory, script))
  return { name, directory, parameters: await readParameters(files, directory) }
}

/** The scripts run as root, so only root may be able to change them. */
async function checkOwner({ paths, files }: Places, script: string): Promise<void> {
  const others = await changeableByOthers(files, script, paths.root === '' ? '/' : paths.root)
  if (others !== undefined)
    fail(`${paths.virtual(others)}; only root may be able to change scripts: use chown and chmod`)
}

/** Returns the local path of a script, or undefined if the provider does not have this optional script. */
export async function scriptOf(
  { files }: Places,
  provider: Provider,
  script: ProviderScript,
): Promise<string | undefined> {
  const isThere = await isScript(files, provider.directory, script)
  return isThere ? path.join(provider.directory, script) : undefined
}
