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
import { statusOf, takenAt, type ConfigStatus } from '../../config/copy-status'
import type { ConfigReplica, Handlers, NodeContext } from '../context'

export const configReplicaHandlers = {
  async gantry_config_append(context, records) {
    await answer(replicaOf(context).append(records))
    return null
  },

  async gantry_config_replace(context, config, gantry) {
    await answer(replicaOf(context).replace(config, gantry))
    return null
  },

  async gantry_config_status(context) {
    const known = context.configReplica?.documents()
    return known === undefined ? statusOfFiles(context) : statusOf(known)
  },

  async gantry_replica_status(context) {
    return { config_serial: await configSerial(context), jobs: await jobsOf(context) }
  },
} satisfies Partial<Handlers>

/** Reads the files, because they contain everything that was acknowledged. */
async function configSerial({ disk, paths }: NodeContext): Promise<number | null> {
  const config = objectIn((await disk.read(paths.configFile))?.toString('utf8'))
  if (config === undefined) return null
  const { records } = decodeJournal((await disk.read(paths.journalFile)) ?? Buffer.alloc(0))
  return Math.max(Number(config['serial_no']), ...records.map(({ delta }) => delta.to))
}

/** A damaged copy counts with the highest numbers that its files know: more was there. */
async function statusOfFiles({ disk, paths }: NodeContext): Promise<ConfigStatus | null> {
  const config = objectIn((await disk.read(paths.configFile))?.toString('utf8'))
  const cluster = config?.['cluster']
  if (config === undefined || !isObject(cluster)) return null
  const gantry = objectIn((await disk.read(paths.gantryFile))?.toString('utf8')) ?? {}
  const { marks, records } = decodeJournal((await disk.read(paths.journalFile)) ?? Buffer.alloc(0))
  const highest = (serial: unknown, others: readonly number[]) => Math.max(Number(serial ?? 0), ...others)
  return {
    config_serial: highest(config['serial_no'], [
      ...marks.map((mark) => mark.config.serial),
      ...records.map(({ delta }) => delta.to),
    ]),
    gantry_serial: highest(gantry['serial_no'], [
      ...marks.map((mark) => mark.gantry.serial),
      ...records.map(({ delta }) => delta.gantry?.serial_no ?? 0),
    ]),
    taken_ms: takenAt(isObject(gantry['sections']) ? gantry['sections'] : {}),
    master: String(cluster['master_node']),
  }
}

async function jobsOf({ disk, paths, queueJournal }: NodeContext): Promise<[number, boolean][]> {
  const newer = await queueJournal.contents()
  const names = [...(await disk.list(paths.queueDir)), ...[...newer.keys()].map((file) => path.basename(file))]
  const ids = new Set(names.flatMap((name) => /^job-(\d+)$/.exec(name)?.[1] ?? []))
  const jobs: [number, boolean][] = []
  await eachBounded(ids, QUEUE_COMMIT_FILES_MAX, async (id) => {
    const file = `${paths.queueDir}/job-${id}`
    const ended = hasEnded(newer.get(file)) || hasEnded((await disk.read(file))?.toString('utf8'))
    jobs.push([Number(id), ended])
  })
  return jobs
}

const replicaOf = ({ configReplica }: NodeContext): ConfigReplica =>
  configReplica ?? fail('This node keeps no copy of the configuration')

/** Records that do not fit are no bug: the master then sends a full copy. */
async function answer(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (error instanceof ConfigurationError) fail(error.message)
    throw error
  }
}
