// The chosen nodes, and the scores of all others.
import { Group, Table } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import type { components } from '../../api/schema'
import { useMay } from '../../api/session'
import { CopyAs } from '../../parts/copy-as'
import { ProblemBox } from '../../parts/problem-box'
import { QUESTION_PERMISSION, questionQuery } from '../../parts/question'
import { capacityQuestion } from '../../parts/question-request'
import { Status } from '../../parts/status'
import { texts } from '../../texts'

const own = texts.instances.create

type Candidate = components['schemas']['CandidateNode']

export interface Wanted {
  readonly disk_template: string
  readonly memory_mib: number
  readonly vcpus: number
  readonly disks_mib: readonly number[]
  /** Empty if not each disk says it. */
  readonly disks_spindles: readonly number[]
  readonly tags: readonly string[]
  readonly networks: readonly string[]
  readonly group?: string
}

interface PlacementProps {
  readonly wanted: Wanted
  readonly chosen: readonly string[]
}

const SHOWN_MAX = 12

export function PlacementView({ wanted: desired, chosen }: PlacementProps) {
  const may = useMay()
  const { data, error, isFetching, refetch } = useQuery(placementQuery(desired, may))
  const rank = ({ node, accepted, score_change: change }: Candidate) =>
    chosen.includes(node) ? -Infinity : accepted ? (change ?? 0) : Infinity
  const candidates = (data?.groups ?? []).flatMap((one) => one.candidates ?? []).sort((a, b) => rank(a) - rank(b))
  if (error) return <ProblemBox error={error} retry={() => void refetch()} />
  if (candidates.length === 0) return isFetching ? <span className="dim">{own.asking}</span> : null
  return (
    <details open>
      <summary>
        {own.why} <span className="dim">{candidates.length}</span>
      </summary>
      <Table fz="xs" withRowBorders={false} className="diff" aria-label={own.why}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{own.node}</Table.Th>
            <Table.Th>{own.fit}</Table.Th>
            <Table.Th ta="right">{own.score}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {candidates.slice(0, SHOWN_MAX).map((candidate) => (
            <Table.Tr key={candidate.node} fw={chosen.includes(candidate.node) ? 600 : undefined}>
              <Table.Td>{candidate.node}</Table.Td>
              <Table.Td>
                <Fit candidate={candidate} chosen={chosen.includes(candidate.node)} />
              </Table.Td>
              <Table.Td ta="right">
                {candidate.score_change === null ? '–' : candidate.score_change.toFixed(4)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {candidates.length > SHOWN_MAX && <span className="dim">{own.others(candidates.length - SHOWN_MAX)}</span>}
      <p className="dim">{own.scoreText}</p>
      <Group gap={0}>
        <CopyAs small request={capacityQuestion(placementAsked(desired))} />
      </Group>
    </details>
  )
}

/** The question which nodes are suitable. It counts no instances, and explains each node. */
export function placementAsked({
  group,
  disks_mib,
  disks_spindles,
  tags,
  networks,
  ...others
}: Wanted): components['schemas']['CapacityRequest'] {
  const groups = group === undefined ? {} : { groups: [group] }
  const disks = disks_mib.length === 0 ? {} : { disks_mib: [...disks_mib] }
  const spindles = disks_spindles.length === 0 ? {} : { disks_spindles: [...disks_spindles] }
  // The plan minds these, too: a node that it refuses does not fit.
  const named = {
    ...(tags.length === 0 ? {} : { tags: [...tags] }),
    ...(networks.length === 0 ? {} : { networks: [...networks] }),
  }
  return { spec: { ...others, ...disks, ...spindles, ...named }, max_instances: 0, explain: true, ...groups }
}

/** Asks the allocator for suitable nodes, if the user has the permission. An old answer is refetched, because the plan beside it is new. */
export const placementQuery = (desired: Wanted, may: (permission: string) => boolean) =>
  queryOptions({
    ...questionQuery('/3/capacity', placementAsked(desired)),
    ...{ staleTime: 30_000, enabled: may(QUESTION_PERMISSION['/3/capacity']) },
  })

function Fit({ candidate, chosen }: { candidate: Candidate; chosen: boolean }) {
  if (chosen) return <Status tone="good" text={own.isChosen} />
  if (candidate.accepted) return <Status tone="off" text={own.fits} />
  return <Status tone="warn" text={candidate.reason ?? own.fitsNot} />
}
