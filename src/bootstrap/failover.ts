// Makes this node the master (Ganeti's bootstrap.MasterFailover). The old master is stopped first if it is reachable,
// with its jobs, so that there are never two. Then this node's configuration names the new master, and every node is
// told. Nothing acknowledged is lost: a candidate that lacks data of another one does not take over.
import { masterCandidates } from '../config/lookup'
import { change } from '../config/changes'
import { recordValues } from '../config/records'
import { masterParams } from '../config/rpc-dicts'
import { ssconfLines } from '../config/ssconf'
import { openStore } from '../config/store'
import { archivedFile } from '../jobs/store'
import { eachBounded } from '../lib/work/bounded'
import { within, type Clock } from '../lib/clock'
import type { Disk } from '../lib/disk'
import type { LockFile } from '../lib/file/lock'
import type { Log } from '../lib/log'
import type { Paths } from '../lib/paths'
import type { Random } from '../lib/random'
import type { ConfigData, Node } from '../model/config'
import { ConfigurationError, ECODE, OpPrereqError } from '../model/errors'
import {
  FAILOVER_ANSWER_S,
  FAILOVER_ARRIVAL_LOOK_S,
  FAILOVER_ARRIVAL_LOOKS,
  FAILOVER_START_S,
  FAILOVER_STOP_S,
  MASTER_IP_S,
} from '../model/limits/master'
import { SSCONF_NODES_AT_ONCE } from '../model/limits/replication'
import type { NodeClient, NodeTarget } from '../rpc/node/client'
import { takeOverConfig } from '../replication/config-owner'
import { FollowFeed, serveFollow } from '../rpc/wconfd/follow-server'
import { attemptCall } from './attempt'
import { masterIpBecomes, noMasterIp } from './master-ip'
import { compareReplicas } from '../replication/replica-contents'
import { NotMaster, type Vote, askVote, countVotes, voters } from './votes'

export interface FailoverOptions {
  paths: Paths
  disk: Disk
  clock: Clock
  random: Random
  log: Log
  nodes: NodeClient
  lockFile?: LockFile
  /** The other nodes need not agree, and this node may be behind them. */
  noVoting: boolean
}

/** Each warning needs a person's action. `ok` is false if the cluster may not work now. */
export interface FailoverResult {
  ok: boolean
  warnings: string[]
}

/** Every node, with the master that it names. */
export type Survey = readonly { readonly node: NodeTarget; readonly vote: Vote }[]

interface Names {
  oldMaster: string
  self: NodeTarget
  old: NodeTarget | undefined
  /** The other candidates that answer. */
  others: readonly NodeTarget[]
  /** Names of those that do not. */
  silent: readonly string[]
}

export async function surveyNodes(
  options: Pick<FailoverOptions, 'paths' | 'disk' | 'nodes' | 'clock'>,
): Promise<Survey> {
  try {
    const nodes = await voters(options)
    return await Promise.all(nodes.map(async (node) => ({ node, vote: await askVote(options, node) })))
  } catch (error) {
    throw error instanceof NotMaster ? new OpPrereqError(error.message, ECODE.STATE) : error
  }
}

/** Whether more than half of the nodes answer, and which do not. */
export function majorityHealthy(survey: Survey, ignoreOffline: boolean): { healthy: boolean; silent: string[] } {
  const requested = survey.filter(({ node }) => !(ignoreOffline && node.offline))
  const silent = requested.filter(({ vote }) => typeof vote !== 'string').map(({ node }) => node.name)
  return { healthy: 2 * (requested.length - silent.length) > requested.length, silent }
}

export async function masterFailover(options: FailoverOptions, survey: Survey): Promise<FailoverResult> {
  const names = await readNames(options, survey)
  if (!options.noVoting) checkAgreement(survey, names.oldMaster)
  const silent = [...names.silent, ...(await checkContents(options, names, names.others))]
  const { old, self, oldMaster } = names
  const result: FailoverResult = { ok: true, warnings: [] }
  // A hanging master gets less time than one that answers, which may have jobs to end.
  const patience_s = survey.some(({ node, vote }) => node === old && typeof vote === 'string')
    ? FAILOVER_STOP_S
    : FAILOVER_ANSWER_S
  const notStopped = await attemptCall(options, patience_s, old, 'node_stop_master', [])
  let config: ConfigData
  try {
    // Until now the old master may have changed something; from here on it has stopped.
    if (old !== undefined && notStopped === undefined)
      silent.push(...(await checkContents(options, names, [...names.others, old])))
    config = await takeConfig(options, oldMaster)
  } catch (error) {
    if (notStopped === undefined)
      await attemptCall(options, FAILOVER_START_S, old, 'node_start_master_daemons', [false])
    throw error
  }
  result.warnings.push(...new Set(silent.map(notCompared)))
  await tellNodes(options, config)
  const { params, external } = { params: masterParams(config), external: config.cluster.use_external_mip_script }
  const oldUuid = recordValues(config.nodes).find(({ name }) => name === oldMaster)?.uuid ?? ''
  const onOld = { ...params, uuid: oldUuid }
  const kept = await attemptCall(options, FAILOVER_ANSWER_S, old, 'node_deactivate_master_ip', [onOld, external])
  if (kept !== undefined) result.warnings.push(`Could not disable the master IP: ${kept}`)
  if (notStopped !== undefined)
    result.warnings.push(
      `Could not disable the master role on the old master ${oldMaster}, please disable manually: ${notStopped}`,
    )
  await awaitMasterIp(options, result, params.ip, false)
  await beginAnew(options)
  const notStarted = await attemptCall(options, FAILOVER_START_S, self, 'node_start_master_daemons', [options.noVoting])
  if (notStarted !== undefined) {
    result.ok = false
    result.warnings.push(`Could not start the master role on the new master ${self.name}, please check: ${notStarted}`)
  }
  await awaitMasterIp(options, result, params.ip, true)
  return result
}

async function readNames({ paths, disk }: FailoverOptions, survey: Survey): Promise<Names> {
  const lines = async (key: string) => ((await disk.read(paths.ssconf(key)))?.toString('utf8') ?? '').trim().split('\n')
  const [oldMaster = ''] = await lines('master_node')
  const candidates = await lines('master_candidates')
  if (oldMaster === paths.hostname)
    throw new OpPrereqError(
      `This commands must be run on the node where you want the new master to be. ${oldMaster} is already the master` +
        (paths.root === '' ? '' : '; gnt --node NAME cluster master-failover runs it on another virtual node'),
      ECODE.INVAL,
    )
  const self = survey.find(({ node }) => node.name === paths.hostname)?.node
  if (self === undefined || !candidates.includes(paths.hostname))
    throw new OpPrereqError(
      'This node is not among the nodes marked as master candidates. Only these nodes can become masters. ' +
        `Current list of master candidates is:\n${candidates.filter((name) => name !== oldMaster).join('\n')}`,
      ECODE.STATE,
    )
  const others = survey.filter(
    ({ node: { name } }) => candidates.includes(name) && name !== oldMaster && name !== self.name,
  )
  const answering = others.filter(({ vote }) => typeof vote === 'string').map(({ node }) => node)
  const silent = others.map(({ node }) => node).filter((node) => !answering.includes(node) && !node.offline)
  const old = survey.find(({ node }) => node.name === oldMaster)?.node
  return { oldMaster, self, old, others: answering, silent: silent.map(({ name }) => name) }
}

const notCompared = (node: string): string =>
  `The master candidate ${node} did not tell what it has. If it has more than this node, its files are kept there, and gnt-cluster verify ` +
  'names them when it is back'

function checkAgreement(survey: Survey, oldMaster: string): void {
  const votes = countVotes(survey.map(({ vote }) => vote))
  const [voted = oldMaster] = [...votes.keys()].sort((a, b) => (votes.get(b) ?? 0) - (votes.get(a) ?? 0))
  if (voted !== oldMaster)
    throw new OpPrereqError(
      `I have a wrong configuration, I believe the master is ${oldMaster} but the other nodes voted ${voted}. ` +
        'Please resync the configuration of this node.',
      ECODE.STATE,
    )
}

/**
 * Data that another candidate got a moment earlier, such as a note of maintd, is still on its way here. So this waits
 * for it. Returns the names of those that do not tell.
 */
async function checkContents(
  options: FailoverOptions,
  { self }: Pick<Names, 'self'>,
  others: readonly NodeTarget[],
): Promise<string[]> {
  const { nodes, disk, paths, noVoting, log, clock } = options
  const silent: string[] = []
  const isArchived = async (id: number) => (await disk.read(archivedFile(paths, id))) !== undefined
  const compare = async (other: NodeTarget) => {
    const requested = nodes.one(other, 'gantry_replica_status', []).catch(String)
    const contents = await within(clock, FAILOVER_ANSWER_S, requested)
    if (typeof contents !== 'object') {
      log.warn({ node: other.name, error: contents }, 'what this node has is not compared')
      return void silent.push(other.name)
    }
    const lacks = async () => compareReplicas(await nodes.one(self, 'gantry_replica_status', []), contents, isArchived)
    let missing = await lacks()
    for (let look = 1; missing !== undefined && look < FAILOVER_ARRIVAL_LOOKS; look++) {
      await clock.sleep(FAILOVER_ARRIVAL_LOOK_S * 1000)
      missing = await lacks()
    }
    if (missing === undefined) return
    if (!noVoting)
      throw new OpPrereqError(
        `${self.name} would lose what ${other.name} has: ${missing}. Fail over to ${other.name}, or, if it must be ` +
          `${self.name}, add --no-voting, which goes on without`,
        ECODE.STATE,
      )
    log.warn({ node: other.name, missing }, 'another node has more than the new master')
  }
  await Promise.all(others.map(compare))
  return silent
}

/** Acts as wconfd, also for the followers of the configuration. */
async function takeConfig(options: FailoverOptions, oldMaster: string): Promise<ConfigData> {
  const lock = await takeOverConfig(options)
  try {
    return await changeMaster(options, oldMaster)
  } finally {
    lock.release()
  }
}

async function changeMaster(options: FailoverOptions, oldMaster: string): Promise<ConfigData> {
  const { paths, log } = options
  const path = paths.socket('follow')
  const unread = () => {
    throw new ConfigurationError('This node is becoming the master; ask again in a moment')
  }
  const follow = await serveFollow({ path, log }, new FollowFeed(unread, false))
  try {
    const store = await openStore(options)
    try {
      findNode(store.current(), oldMaster, 'old')
      await store.change([change('setMasterNode', findNode(store.current(), paths.hostname, 'new').uuid)])
      return store.current()
    } finally {
      await store.close(true)
    }
  } finally {
    await follow.close()
  }
}

function findNode(config: ConfigData, name: string, which: 'old' | 'new'): Node {
  const node = recordValues(config.nodes).find((one) => one.name === name)
  if (node !== undefined) return node
  throw new OpPrereqError(`Could not find ${which} master node '${name}' in cluster configuration.`, ECODE.NOENT)
}

/** This node first: it must know that it is the master now. The new wconfd will tell nodes that do not answer. */
async function tellNodes(options: FailoverOptions, config: ConfigData): Promise<void> {
  const { nodes, log, paths } = options
  const values = ssconfLines(config)
  await nodes.one(findNode(config, paths.hostname, 'new'), 'write_ssconf_files', [values])
  await eachBounded(recordValues(config.nodes), SSCONF_NODES_AT_ONCE, async (node) => {
    if (node.offline || node.name === paths.hostname) return
    const error = await attemptCall(options, FAILOVER_ANSWER_S, node, 'write_ssconf_files', [values])
    if (error !== undefined) log.warn({ node: node.name, error }, 'it did not hear of the new master')
  })
  log.info({ candidates: masterCandidates(config).map(({ name }) => name) }, 'the nodes know the new master')
}

/** Event numbers start over, even if this node was the master before. The queue accepts jobs. */
async function beginAnew({ paths, disk }: FailoverOptions): Promise<void> {
  await disk.remove(paths.eventsFile, { durable: true })
  await disk.remove(`${paths.queueDir}/drain`, { durable: true })
}

async function awaitMasterIp(
  { clock, paths }: FailoverOptions,
  result: FailoverResult,
  ip: string,
  up: boolean,
): Promise<void> {
  if (await masterIpBecomes(up, ip, { clock, paths })) return
  result.ok = false
  result.warnings.push(
    up
      ? noMasterIp()
      : `The master IP is still reachable after ${MASTER_IP_S} seconds, continuing but activating the master IP on the ` +
          'current node will probably fail',
  )
}
