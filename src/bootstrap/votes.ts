// Whether this node may run master daemons: the majority of all nodes must name it as the master (their
// ssconf_master_node). The nodes come from this node's own ssconf files, which every daemon may read.
import { errorText } from '../lib/system-failure'
import { within, type Clock } from '../lib/clock'
import type { Disk } from '../lib/disk'
import type { Log } from '../lib/log'
import type { Paths } from '../lib/paths'
import { certificateProblem } from '../lib/tls'
import { EXIT } from '../model/constants/daemons'
import { nodeUuid } from '../model/ids'
import { VOTE_ANSWER_S, VOTE_PAUSE_S, VOTE_TRIES_MAX } from '../model/limits/master'
import type { NodeClient, NodeTarget } from '../rpc/node/client'

export interface VoteOptions {
  paths: Paths
  disk: Disk
  nodes: NodeClient
  clock: Clock
  log: Log
  /** `--no-voting` and `--yes-do-it`: only both together skip the vote. */
  noVoting?: boolean
  yesDoIt?: boolean
}

/** The daemon must not start; the process ends with this exit code. */
export class NotMaster extends Error {
  constructor(
    text: string,
    readonly exitCode: number = EXIT.notMaster,
  ) {
    super(text)
  }
}

/** Returns if this node is the master; waits a while for nodes that do not answer yet. Throws NotMaster. */
export async function checkVotes(options: VoteOptions): Promise<void> {
  const { clock, log, paths, noVoting = false, yesDoIt = false } = options
  if (noVoting && yesDoIt) return void log.warn('starting without asking the other nodes who is master')
  if (noVoting) throw new NotMaster('--no-voting is dangerous: it needs --yes-do-it as well', EXIT.failure)
  for (let left = VOTE_TRIES_MAX; ; left--) {
    const verdict = await vote(options)
    if (verdict.won) return
    if (verdict.lost) throw new NotMaster(`${paths.hostname} is not the master of this cluster: ${verdict.text}`)
    const pem = await options.disk.read(paths.serverCert)
    const problem = pem && certificateProblem(paths.serverCert, pem, clock.now_ms())
    // Waiting is useless until somebody corrects a clock, so the daemon ends and is restarted.
    if (problem !== undefined) throw new NotMaster(problem, EXIT.failure)
    if (left <= 1)
      throw new NotMaster(
        `Too few nodes answer to know who is master: ${verdict.text}. Start their node daemons, or, when you are sure that ` +
          `no other node runs as master, start with --no-voting --yes-do-it`,
      )
    log.info({ votes: verdict.text }, 'waiting for the votes of more nodes')
    await clock.sleep(VOTE_PAUSE_S * 1000)
  }
}

interface Verdict {
  won: boolean
  /** The missing votes could not change the result. */
  lost: boolean
  text: string
}

async function vote(options: VoteOptions): Promise<Verdict> {
  const { paths } = options
  const targets = await voters(options)
  const results: Vote[] = []
  const own = () => countVotes(results).get(paths.hostname) ?? 0
  await new Promise<void>((resolve) => {
    // The majority need not wait for a node that hangs.
    for (const target of targets)
      void askVote(options, target).then((answer) => {
        results.push(answer)
        if (results.length === targets.length || 2 * own() > targets.length) resolve()
      })
  })
  const votes = countVotes(results)
  const missing = targets.length - [...votes.values()].reduce((sum, count) => sum + count, 0)
  const counts = [...votes].map(([name, count]) => `${name} ${count}`)
  const why = results.find((result) => typeof result === 'object')?.failed
  return {
    won: 2 * own() > targets.length,
    lost: 2 * (own() + missing) <= targets.length,
    text:
      `of ${targets.length} nodes ${missing} did not answer${why === undefined ? '' : ` (the first: ${why})`}; ` +
      `votes: ${counts.join(', ') || 'none'}`,
  }
}

/** The master that a node names, or why it does not say. */
export type Vote = string | { failed: string } | undefined

export function countVotes(votes: readonly Vote[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of votes) if (typeof name === 'string') counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

export const askVote = ({ nodes, clock }: Pick<VoteOptions, 'nodes' | 'clock'>, target: NodeTarget): Promise<Vote> =>
  within(
    clock,
    VOTE_ANSWER_S,
    nodes.one(target, 'master_node_name', []).then(
      (name) => name.trim(),
      (error: unknown) => ({ failed: errorText(error) }),
    ),
  )

/** Offline nodes cannot be asked, but count as voters, as in Ganeti. */
export async function voters({ paths, disk }: Pick<VoteOptions, 'paths' | 'disk'>): Promise<NodeTarget[]> {
  const lines = async (key: string) =>
    ((await disk.read(paths.ssconf(key)))?.toString('utf8') ?? '').split('\n').filter((line) => line !== '')
  const addresses = await lines('node_primary_ips')
  if (addresses.length === 0)
    throw new NotMaster(`There is no list of nodes in ${paths.ssconf('node_primary_ips')}: this node is in no cluster`)
  const offline = new Set(await lines('offline_nodes'))
  return addresses.map((line) => {
    const [name = '', primary_ip = ''] = line.split(' ')
    return { uuid: nodeUuid(name), name, primary_ip, offline: offline.has(name) }
  })
}
