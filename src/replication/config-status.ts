// Which of two copies of the configuration has more. The serial numbers decide, but only within one history: not between
// two masters, and not after a person has said that the master's files are right.
import { statusOf, type ConfigStatus } from '../config/copy-status'
import { masterCandidates } from '../config/lookup'
import { howToTake, type StoreOptions } from '../config/store-files'
import { within, type Clock } from '../lib/clock'
import type { Documents } from '../model/config'
import { ConfigurationError } from '../model/errors'
import { CONFIG_STATUS_S } from '../model/limits/replication'
import type { NodeClient, NodeTarget } from '../rpc/node/client'

/** What the other copy has and the master's own lacks, or undefined. */
export function lacks(own: ConfigStatus, other: ConfigStatus): string | undefined {
  if (other.master !== own.master || other.taken_ms < own.taken_ms) return undefined
  const behind = [
    ['config.data', own.config_serial, other.config_serial] as const,
    ['gantry.data', own.gantry_serial, other.gantry_serial] as const,
  ].filter(([, here, there]) => here < there)
  if (behind.length === 0) return undefined
  return behind.map(([file, here, there]) => `${file} with serial number ${there} (here: ${here})`).join(' and ')
}

/** What the node has more than the master, or undefined: also if it does not answer, or knows no such question. */
export async function newerOn(
  node: NodeTarget,
  documents: Documents,
  { nodes, clock }: { readonly nodes: NodeClient; readonly clock: Clock },
): Promise<string | undefined> {
  const asked = nodes.one(node, 'gantry_config_status', []).catch(() => null)
  const status = await within(clock, CONFIG_STATUS_S, asked)
  return status ? lacks(statusOf(documents), status) : undefined
}

/** Before the master's files replace the candidates' copies. Throws if a candidate knows more than they have. */
export async function refuseLess(
  documents: Documents,
  options: { readonly nodes: NodeClient } & Pick<StoreOptions, 'clock' | 'paths'>,
): Promise<void> {
  const { paths } = options
  const others = masterCandidates(documents.config).filter(({ name, offline }) => name !== paths.hostname && !offline)
  await Promise.all(
    others.map(async (node) => {
      const newer = await newerOn(node, documents, options)
      if (newer !== undefined)
        throw new ConfigurationError(
          `${node.name} has ${newer}: this master has lost data. Restore ${paths.configFile} and ${paths.gantryFile} ` +
            `from a master candidate or a backup, or make ${node.name} the master. ${howToTake(paths)}`,
        )
    }),
  )
}
