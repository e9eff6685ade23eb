// Words for why nodes are unsuitable, and the same as data for /3.
import type { CandidateNode, Reject } from '../../model/allocation'
import { score8 } from './numbers'
import type { Candidate } from './requests'

/**
 * For example "no node fits: 12 lack memory (largest free 3,072 MiB on node7, 4,096 needed), 3 are drained"; undefined
 * if a node fits.
 */
export function whyNone(candidates: readonly Candidate[], wayOut = N1_CHECK): string | undefined {
  if (candidates.length === 0) return 'no node fits: there is none'
  const reported = reasons(candidates, wayOut)
  return reported && `no node fits: ${reported}`
}

/** The same for the wanted groups; skips nodes of other groups. */
export function whyNoneIn(groups: readonly string[], candidates: readonly Candidate[]): string | undefined {
  const inside = candidates.filter(({ reject }) => reject !== 'other group')
  const names = `${groups.length === 1 ? 'group' : 'groups'} ${groups.join(', ')}`
  if (inside.length === 0) return `no node fits: ${names} ${groups.length === 1 ? 'has' : 'have'} none`
  const reported = reasons(inside, N1_CHECK)
  return reported && `no node of ${names} fits: ${reported}`
}

/** Undefined if a node fits: then the reason was another. Skips the instance's own nodes. */
function reasons(candidates: readonly Candidate[], wayOut: string): string | undefined {
  const others = candidates.filter(({ reject }) => reject !== 'own node')
  if (others.length === 0) return 'there is no other'
  if (others.some(({ reject }) => reject === undefined)) return undefined
  const way = others.some(({ reject }) => reject === 'FailN1') ? `; ${wayOut}` : ''
  return `${tally(others).join(', ')}${way}`
}

/** How many nodes fail for each reason, the most frequent first: "2 lack memory (largest free ...)". */
export function tally(candidates: readonly Candidate[]): string[] {
  const byReason = new Map<string, Candidate[]>()
  for (const one of candidates) {
    const reason = reasonOf(one)
    const alike = byReason.get(reason)
    if (alike === undefined) byReason.set(reason, [one])
    else alike.push(one)
  }
  return [...byReason.values()]
    .sort((one, other) => other.length - one.length)
    .map((all) => `${all.length} ${reasonOf(all[0], all.length)}${shortage(all)}`)
}

const N1_CHECK = 'leave this check out with gnt-cluster modify --default-iallocator-params no-capacity-checks='
/** The way out for users who create an instance: they may choose its place. */
export const NAME_A_PLACE = `name a node or a group (-n, -g), or ${N1_CHECK}`

/** The reason that `count` nodes share. */
function reasonOf(one: Candidate | undefined, count = 1): string {
  if (one?.reject === undefined) return ''
  return `${PHRASES[one.reject](count)}${one.detail === undefined ? '' : ` ${one.detail}`}`
}

/** "is drained" */
export const phraseOf = (reject: Reject): string => PHRASES[reject](1)

/** Ganeti reports it as a lack of disk. */
export const SPINDLE_RATIO = 'by the spindle ratio of the policy'

type Phrase = (count: number) => string
const are =
  (text: string): Phrase =>
  (count) =>
    `${count === 1 ? 'is' : 'are'} ${text}`
const lack =
  (text: string): Phrase =>
  (count) =>
    `${count === 1 ? 'lacks' : 'lack'} ${text}`
const do_ =
  (one: string, more: string): Phrase =>
  (count) =>
    count === 1 ? one : more

const PHRASES: Readonly<Record<Reject, Phrase>> = {
  FailMem: lack('memory'),
  FailDisk: lack('disk space'),
  FailCPU: lack('CPUs'),
  FailN1: do_(
    'would leave no room for the instances of a node that dies',
    'would leave no room for the instances of a node that dies',
  ),
  FailTags: do_('has an instance that excludes it', 'have instances that exclude it'),
  FailMig: do_('may not receive it by its migration tags', 'may not receive it by their migration tags'),
  FailDiskCount: do_(
    'is in a group whose policy wants another number of disks',
    'are in groups whose policy wants another number of disks',
  ),
  FailSpindles: lack('spindles'),
  FailInternal: do_('cannot be judged', 'cannot be judged'),
  policy: do_('is in a group whose policy forbids it', 'are in groups whose policy forbids it'),
  offline: are('offline'),
  drained: are('drained'),
  'not vm_capable': are('not vm_capable'),
  'no answer': do_('did not answer', 'did not answer'),
  'not locked': are('locked by other jobs'),
  'other group': do_('is in another group', 'are in other groups'),
  unallocable: do_('is in an unallocable group', 'are in unallocable groups'),
  'no network': are('not connected to its network'),
  'no secondary': do_('has no secondary for it', 'have no secondary for it'),
  'own node': do_('is its own', 'are its own'),
  evacuated: are('to be left, too'),
  'not wanted': do_('takes a move that was not wanted', 'take moves that were not wanted'),
}

function shortage(all: readonly Candidate[]): string {
  const measured = all.flatMap(({ node, free, needed }) => (free === undefined ? [] : [{ node, free, needed }]))
  const [first, ...others] = measured
  if (first?.needed === undefined) return ''
  const most = others.reduce((best, one) => (one.free > best.free ? one : best), first)
  const { reject = '', detail = '' } = all[0] ?? {}
  const unit = ['FailCPU', 'FailSpindles'].includes(reject) || detail === SPINDLE_RATIO ? '' : ' MiB'
  return ` (largest free ${grouped(most.free)}${unit} on ${most.node}, ${grouped(first.needed)} needed)`
}

/** 32,768 */
export const grouped = (value: number): string =>
  Math.floor(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',')

/** One line for each node. */
export const candidateLines = (candidates: readonly Candidate[]): string =>
  candidates.map((one) => `${candidateLine(toCandidateNode(one))}\n`).join('')

export function candidateLine({ node, secondary, ...verdict }: CandidateNode): string {
  const { score_change, reject, reason, free, needed } = verdict
  if (reject !== null) {
    const short = free === null || needed === null ? '' : ` (${grouped(free)} of ${grouped(needed)})`
    return `  ${node}: ${reject}: ${reason}${short}`
  }
  const change = score_change === null ? '' : `, score ${score_change < 0 ? '' : '+'}${score8(score_change)}`
  return `  ${node}: accepted${secondary === null ? '' : ` with ${secondary}`}${change}`
}

export function toCandidateNode(candidate: Candidate): CandidateNode {
  const { node, secondary, scoreChange, reject, free, needed } = candidate
  return {
    node,
    secondary: secondary ?? null,
    accepted: reject === undefined,
    score_change: scoreChange ?? null,
    reject: reject ?? null,
    reason: reject === undefined ? null : reasonOf(candidate),
    free: free ?? null,
    needed: needed ?? null,
  }
}
