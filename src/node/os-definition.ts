// OS definitions on this node: directories with scripts that install, rename, export and import instances (spec:
// constants.json os_interface). This file finds and checks them; os.ts runs them.
import type { Files } from '../lib/files'
import { errorText } from '../lib/system-failure'
import * as path from 'node:path'
import { OS_API_VERSIONS } from '../model/constants/versions'
import type { OsDiagnosis } from '../rpc/node/dicts'
import type { NodeContext } from './context'
import { NodeFailure, fail } from './failure'
import { DEFINITION_NAME, isScript, readLines, readParameters, subdirectories } from './definition-files'

export type OsScript = 'create' | 'import' | 'export' | 'rename' | 'verify'

export interface OsDefinition {
  readonly name: string
  /** Local directory; scripts run in it. */
  readonly directory: string
  readonly apiVersions: readonly number[]
  /** The newest interface that both sides know. */
  readonly api: number
  readonly variants: readonly string[]
  readonly parameters: readonly (readonly [name: string, description: string])[]
  /** False if its create script must run inside a helper machine (`create_untrusted`). */
  readonly trusted: boolean
}

type OsContext = Pick<NodeContext, 'paths' | 'files' | 'osSearchPath' | 'machineOsPath'>

/** Variants exist from this interface version on; parameters and the verify script from the second one. */
const VARIANTS_FROM = 15
const PARAMETERS_FROM = 20

/** Splits `name+variant`. */
export function splitOsName(os: string): { name: string; variant: string | undefined } {
  const at = os.indexOf('+')
  return at < 0 ? { name: os, variant: undefined } : { name: os.slice(0, at), variant: os.slice(at + 1) }
}

/** Scripts use the variant's name in file names, so it must not contain anything that leads elsewhere. */
const VARIANT_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/

/** The definition in an instance's `os`; throws if it is unusable. */
export async function findOs(context: OsContext, os: string): Promise<OsDefinition> {
  const { name, variant } = splitOsName(os)
  if (variant !== undefined && !VARIANT_NAME.test(variant))
    fail(`Invalid name of a variant of OS '${name}': ${JSON.stringify(variant)}; it has letters, digits and _.+- only`)
  const directory = DEFINITION_NAME.test(name) ? await findDirectory(context, name) : undefined
  if (directory === undefined) return fail(`Directory for OS ${name} not found in search path`)
  try {
    return await trustedDefinition(context, name, directory)
  } catch (error) {
    if (error instanceof NodeFailure) fail(`OS '${name}' is not usable: ${error.message}`)
    throw error
  }
}

/**
 * All definitions, usable or not, in the order of the search path. An earlier one hides later ones with the same name.
 */
export async function diagnoseAll(context: OsContext): Promise<OsDiagnosis[]> {
  const found = new Map<string, OsDiagnosis>()
  for (const directory of context.osSearchPath) {
    for (const name of await subdirectories(context.files, directory)) {
      if (!found.has(name)) found.set(name, await diagnose(context, name, path.join(directory, name)))
    }
  }
  return [...found.values()]
}

async function diagnose(context: OsContext, name: string, directory: string): Promise<OsDiagnosis> {
  const displayed = context.paths.virtual(directory)
  try {
    const { variants, parameters, apiVersions, trusted } = await trustedDefinition(context, name, directory)
    const pairs = parameters.map(([parameter, text]): [string, string] => [parameter, text])
    return [name, displayed, true, '', [...variants], pairs, [...apiVersions], trusted]
  } catch (error) {
    return [name, displayed, false, errorText(error), [], [], [], true]
  }
}

async function trustedDefinition(context: OsContext, name: string, directory: string): Promise<OsDefinition> {
  if (context.machineOsPath?.includes(path.dirname(directory))) await checkOnlyRootMayChange(context.files, directory)
  return await readDefinition(context.files, name, directory)
}

/** The machine's own scripts run as the node's user, so nobody else may write them. */
async function checkOnlyRootMayChange(files: Files, directory: string): Promise<void> {
  const inside = (await files.readdir(directory)).map((name) => path.join(directory, name))
  for (const file of [path.dirname(directory), directory, ...inside]) {
    const { uid, mode } = await files.stat(file)
    if (uid !== 0 || (mode & 0o022) !== 0) fail(`${file} may be changed by others than root`)
  }
}

export async function readDefinition(files: Files, name: string, directory: string): Promise<OsDefinition> {
  const apiVersions = await readApiVersions(files, directory)
  const api = Math.max(...apiVersions.filter((version) => OS_API_VERSIONS.includes(version)), 0)
  if (api === 0)
    fail(`no common interface version: the OS has ${apiVersions.join(', ')}, wanted ${OS_API_VERSIONS.join(', ')}`)
  const trusted = await isScript(files, directory, 'create')
  if (!trusted && !(await isScript(files, directory, 'create_untrusted'))) fail('there is no executable script create')
  const scripts = ['import', 'export', 'rename', ...(api >= PARAMETERS_FROM ? ['verify'] : [])]
  for (const script of scripts) {
    if (!(await isScript(files, directory, script))) fail(`there is no executable script ${script}`)
  }
  const variants = api < VARIANTS_FROM ? [] : ((await readLines(files, directory, 'variants.list')) ?? [])
  const parameters = api < PARAMETERS_FROM ? [] : await readParameters(files, directory)
  return { name, directory, apiVersions, api, variants, parameters, trusted }
}

async function readApiVersions(files: Files, directory: string): Promise<number[]> {
  const lines = (await readLines(files, directory, 'ganeti_api_version')) ?? fail('there is no file ganeti_api_version')
  const versions = lines.map(Number)
  if (versions.length === 0 || !versions.every(Number.isSafeInteger))
    fail('ganeti_api_version does not hold one whole number per line')
  return versions
}

async function findDirectory(context: OsContext, name: string): Promise<string | undefined> {
  for (const base of context.osSearchPath) {
    if ((await subdirectories(context.files, base)).includes(name)) return path.join(base, name)
  }
  return undefined
}
