// ExtStorage providers on this node (spec: constants.json extstorage_interface): found and checked, not yet used.
import * as path from 'node:path'
import type { Files } from '../lib/files'
import { ES_SEARCH_PATH } from '../model/constants/paths'
import { messageOf } from '../rpc/node/protocol'
import type { NodeContext } from './context'
import { fail } from './failure'
import { isScript, readParameters, subdirectories } from './definition-files'

export type ProviderDiagnosis = [
  name: string,
  path: string,
  ok: boolean,
  message: string,
  parameters: [string, string][],
]

const SCRIPTS = ['create', 'remove', 'grow', 'attach', 'detach', 'setinfo', 'verify']

export async function diagnoseProviders({
  paths,
  files,
}: Pick<NodeContext, 'paths' | 'files'>): Promise<ProviderDiagnosis[]> {
  const found: ProviderDiagnosis[] = []
  for (const base of ES_SEARCH_PATH.map((directory) => paths.local(directory))) {
    for (const name of await subdirectories(files, base)) {
      const directory = path.join(base, name)
      const shown = paths.virtual(directory)
      try {
        found.push([name, shown, true, '', await check(files, directory)])
      } catch (error) {
        found.push([name, shown, false, messageOf(error), []])
      }
    }
  }
  return found
}

async function check(files: Files, directory: string): Promise<[string, string][]> {
  for (const script of SCRIPTS) {
    if (!(await isScript(files, directory, script))) fail(`there is no executable script ${script}`)
  }
  return readParameters(files, directory)
}
