// Who knows more than the master: candidates are asked before its files replace their copies. A candidate that does not
// tell keeps its copy until it does.
import { change } from '../config/changes'
import { FORKS, forksOf, forksWith, statusOf, surplus, type ConfigStatus } from '../config/copy-status'
import { masterCandidates } from '../config/lookup'
import type { ConfigStore } from '../config/store'
import { howToTake, type StoreOptions } from '../config/store-files'
import { within, type Clock } from '../lib/clock'
import { isFull } from '../lib/disk'
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
  const requested = nodes.one(node, 'gantry_config_status', []).then(
    (status) => ({ status }),
    (error: unknown) => {
      // Ganeti's noded, and our first versions, cannot tell.
      if (isUnknownCall(error)) return { status: null }
      throw error
    },
  )
  const answer = await within(clock, patience_s, requested)
  if (answer === undefined) throw new Error(`it does not tell within ${patience_s} s what it has`)
  return answer.status === null ? undefined : lackedBy(documents, answer.status)
}

/** Histories that a later one has replaced do not count. */
function lackedBy(documents: Documents, status: ConfigStatus): string | undefined {
  const more = surplus(statusOf(documents), status)
  return more?.isFormer === false ? more.text : undefined
}

/**
 * Before the master's files replace the candidates' copies. Throws if a candidate knows more than they have. If a candidate does not
 * tell, a new history begins: the numbers of the changes that follow may be those of changes that only the candidate has.
 */
export async function refuseLess(
  store: Pick<ConfigStore, 'documents' | 'change'>,
  options: { readonly nodes: NodeClient } & Pick<StoreOptions, 'clock' | 'paths' | 'log' | 'random'>,
): Promise<void> {
  const documents = store.documents()
  if (await allTell(documents, options)) return
  const [, last = -1] = forksOf(documents.gantry).at(-1) ?? []
  // Its beginning is the only change since.
  if (documents.config.serial_no <= last + 1) return
  try {
    await store.change([change('setGantry', ...FORKS, forksWith(documents, options.random.uuid()))])
  } catch (error) {
    if (!isFull(error)) throw error
    options.log.error({ err: error }, 'the beginning of a new history cannot be written')
  }
}

async function allTell(
  documents: Documents,
  options: { readonly nodes: NodeClient } & Pick<StoreOptions, 'clock' | 'paths' | 'log'>,
): Promise<boolean> {
  const { paths, log } = options
  let isComplete = true
  const others = masterCandidates(documents.config).filter(({ name, offline }) => name !== paths.hostname && !offline)
  await Promise.all(
    others.map(async (node) => {
      const requested = newerOn(node, documents, options, CONFIG_STATUS_S)
      const newer = await requested.catch((error: unknown) => {
        isComplete = false
        log.warn({ node: node.name, err: error }, SILENT)
      })
      if (newer !== undefined)
        throw new ConfigurationError(
          `${node.name} has ${newer}: this master has lost data. Restore ${paths.configFile} and ${paths.gantryFile} ` +
            `from a master candidate or a backup, or make ${node.name} the master. ${howToTake(paths)}`,
        )
    }),
  )
  return isComplete
}

const SILENT =
  'the master starts without knowing what this master candidate has; its copy is not replaced before it has told'
