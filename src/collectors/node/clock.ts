// Whether the clocks of this node and of the master candidates agree: candidates do not answer clients whose clock
// differs.
import type { CandidateClock } from '../../rpc/confd/clocks'
import { type Collector, type NodeSources, type Status, OK, summary } from '../report'
import { about, int, list, maybe, record, status, text } from '../shapes'

export const clock: Collector = {
  ...{ name: 'clock', category: 'node', kind: 'status' },
  help: 'how far the clocks of master candidates are away',
  asksConfd: true,
  ...{ interval_s: 60, cost_ms: 20 },
  shape: record({
    status,
    candidates: list(
      record({
        address: text,
        ahead_s: about(
          "seconds that its clock is ahead of this node's, to five minutes; null when it does not answer",
          maybe(int),
        ),
      }),
    ),
  }),
  codes: {
    0: 'the clocks of all candidates that answer are near',
    2: 'no candidate answers',
    4: 'the clock of a candidate, or of this node, is so far away that there are no answers',
  },
  open: (sources) => ({ collect: () => collect(sources) }),
}

async function collect({ candidateClocks }: NodeSources): Promise<unknown> {
  const clocks = await candidateClocks()
  return {
    status: judge(clocks),
    candidates: clocks.map(({ server, ahead_s }) => ({ address: server, ahead_s: ahead_s ?? null })),
  }
}

function judge(clocks: readonly CandidateClock[]): Status {
  const near = clocks.filter(({ ahead_s }) => ahead_s === 0)
  const away = clocks.flatMap(({ server, ahead_s }) =>
    ahead_s === undefined || ahead_s === 0 ? [] : [{ server, ahead_s }],
  )
  if (near.length + away.length === 0) return { code: 2, message: 'no master candidate answers' }
  const reported = away.map(({ server, ahead_s }): Status => {
    const minutes = Math.round(Math.abs(ahead_s) / 60)
    const where = ahead_s > 0 ? 'ahead of' : 'behind'
    return { code: 4, message: `the clock of ${server} is some ${minutes} minutes ${where} that of this node` }
  })
  // The node's own confd, if it has one, uses the same clock as this daemon.
  const own: Status =
    away.length > near.length
      ? { code: 4, message: 'most candidates have another time than this node: its clock must be set' }
      : OK
  return summary([...reported, own])
}
