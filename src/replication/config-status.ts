// Who knows more than the master: candidates are asked before its files replace their copies. A candidate that does not
// tell keeps its copy until it does.
import { statusOf, surplus, type ConfigStatus } from '../config/copy-status'
import { masterCandidates } from '../config/lookup'
import { howToTake, type StoreOptions } from '../config/store-files'
import { within, type Clock } from '../lib/clock'
import type { Documents } from '../model/config'
import { ConfigurationError } from '../model/errors'
import { CONFIG_STATUS_S } from '../model/limits/replication'
import { isUnknownCall, type NodeClient, type NodeTarget } from '../rpc/node/client'

/** What the node has more than the master, or undefined. Throws if it does not tell. */
export async function newerOn(
  node: NodeTarget,
  documents: Documents,
  { nodes, clock }: { readonly nodes: NodeClient; readonly clock: Clock },
  patience_s: number,
): Promise<string | undefined> {
  const asked = nodes.one(node, 'gantry_config_status', []).then(
    (status) => ({ status }),
    (error: unknown) => {
      // Ganeti's noded, and our first versions, cannot tell.
      if (isUnknownCall(error)) return { status: null }
      throw error
    },
  )
  const answer = await within(clock, patience_s, asked)
  if (answer === undefined) throw new Error(`it does not tell within ${patience_s} s what it has`)
  return answer.status === null ? undefined : lackedBy(documents, answer.status)
}

/** Histories that a later one has replaced do not count. */
function lackedBy(documents: Documents, status: ConfigStatus): string | undefined {
  const more = surplus(statusOf(documents), status)
  return more?.isFormer === false ? more.text : undefined
}

/** Before the master's files replace the candidates' copies. Throws if a candidate knows more than they have. */
export async function refuseLess(
  documents: Documents,
  options: { readonly nodes: NodeClient } & Pick<StoreOptions, 'clock' | 'paths' | 'log'>,
): Promise<void> {
  const { paths, log } = options
  const others = masterCandidates(documents.config).filter(({ name, offline }) => name !== paths.hostname && !offline)
  await Promise.all(
    others.map(async (node) => {
      const asked = newerOn(node, documents, options, CONFIG_STATUS_S)
      const newer = await asked.catch((error: unknown) => log.warn({ node: node.name, err: error }, SILENT))
      if (newer !== undefined)
        throw new ConfigurationError(
          `${node.name} has ${newer}: this master has lost data. Restore ${paths.configFile} and ${paths.gantryFile} ` +
            `from a master candidate or a backup, or make ${node.name} the master. ${howToTake(paths)}`,
        )
    }),
  )
}

const SILENT =
  'the master starts without knowing what this master candidate has; its copy is not replaced before it has told'
