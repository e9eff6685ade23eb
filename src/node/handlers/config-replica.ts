// Node calls by which the master copies the configuration to master candidates, and by which the next master learns
// what they have.
import * as path from 'node:path'
import { decodeJournal } from '../../config/journal'
import { eachBounded } from '../../lib/work/bounded'
import { QUEUE_COMMIT_FILES_MAX } from '../../model/limits/queue'
import { objectIn } from '../../lib/text/json-text'
import { ConfigurationError } from '../../model/errors'
import { fail } from '../failure'
import { hasEnded } from '../queue-copy'
import { isObject } from '../../lib/shapes/shape'
import { forksOf, statusOf, type ConfigStatus } from '../../config/copy-status'
import type { GantryData } from '../../model/config'
import type { ReplicaContents } from '../../rpc/node/dicts'
import { checkQueueFile } from '../uploads'
import type { ConfigReplica, Handlers, NodeContext } from '../context'

export const configReplicaHandlers = {
  async gantry_config_append(context, records) {
    await answer(replicaOf(context).append(records))
    return null
  },

  async gantry_config_replace(context, config, gantry) {
    return answer(replicaOf(context).replace(config, gantry))
  },

  async gantry_config_status(context) {
    const known = context.configReplica?.documents()
    return known === undefined ? statusOfFiles(context) : statusOf(known)
  },

  async gantry_replica_status(context) {
    // From the files, because they contain everything that was acknowledged.
    const config = await statusOfFiles(context)
    return { config_serial: config?.config_serial ?? null, config, ...(await queueOf(context)) }
  },

  async gantry_jobqueue_read(context, file) {
    checkQueueFile(context, file)
    const newer = (await context.queueJournal.contents()).get(file)
    const written = await textOf(context, file)
    return (hasEnded(written) ? written : (newer ?? written)) ?? null
  },
} satisfies Partial<Handlers>

/** A damaged copy counts with the highest numbers that its files know: more was there. */
async function statusOfFiles({ disk, paths }: NodeContext): Promise<ConfigStatus | null> {
  const config = objectIn((await disk.read(paths.configFile))?.toString('utf8'))
  if (config === undefined) return null
  const gantry = objectIn((await disk.read(paths.gantryFile))?.toString('utf8')) ?? {}
  const { marks, records } = decodeJournal((await disk.read(paths.journalFile)) ?? Buffer.alloc(0))
  const highest = (serial: unknown, others: readonly number[]) => Math.max(Number(serial ?? 0), ...others)
  const deltas = records.map(({ delta }) => delta)
  // A change of the master, which begins a history, may be in the journal only.
  const known = [gantry, ...deltas.map((delta) => delta.gantry)].map((one) => forksOf(sectionsIn(one)))
  const masters = [config['cluster'], ...deltas.map(({ cluster }) => cluster)].map((one) =>
    isObject(one) ? one['master_node'] : undefined,
  )
  return {
    config_serial: highest(config['serial_no'], [
      ...marks.map((mark) => mark.config.serial),
      ...deltas.map((delta) => delta.to),
    ]),
    gantry_serial: highest(gantry['serial_no'], [
      ...marks.map((mark) => mark.gantry.serial),
      ...deltas.map((delta) => delta.gantry?.serial_no ?? 0),
    ]),
    forks: known.findLast((forks) => forks.length > 0) ?? [],
    master: String(masters.findLast((master) => master !== undefined) ?? ''),
  }
}

function sectionsIn(value: unknown): Pick<GantryData, 'sections'> {
  const sections = isObject(value) && isObject(value['sections']) ? value['sections'] : {}
  const kept = Object.entries(sections).flatMap(([name, section]) =>
    isObject(section) ? [[name, section] as const] : [],
  )
  return { sections: Object.fromEntries(kept) }
}

async function queueOf(context: NodeContext): Promise<Pick<ReplicaContents, 'serial' | 'jobs'>> {
  const { disk, paths, queueJournal } = context
  const newer = await queueJournal.contents()
  const names = [...(await disk.list(paths.queueDir)), ...[...newer.keys()].map((file) => path.basename(file))]
  const ids = new Set(names.flatMap((name) => /^job-(\d+)$/.exec(name)?.[1] ?? []))
  const jobs: [number, boolean][] = []
  await eachBounded(ids, QUEUE_COMMIT_FILES_MAX, async (id) => {
    const file = `${paths.queueDir}/job-${id}`
    const ended = hasEnded(newer.get(file)) || hasEnded(await textOf(context, file))
    jobs.push([Number(id), ended])
  })
  const serialFile = `${paths.queueDir}/serial`
  const serials = [newer.get(serialFile), await textOf(context, serialFile)].map((text) => Number(text ?? 0))
  return { serial: Math.max(0, ...serials.filter(Number.isSafeInteger)), jobs }
}

const textOf = async ({ disk }: NodeContext, file: string): Promise<string | undefined> =>
  (await disk.read(file))?.toString('utf8')

const replicaOf = ({ configReplica }: NodeContext): ConfigReplica =>
  configReplica ?? fail('This node keeps no copy of the configuration')

/** Records that do not fit are no bug: the master then sends a full copy. */
async function answer<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ConfigurationError) fail(error.message)
    throw error
  }
}
