// How many instances fit into each group, and whether the group survives the failure of a node.
import { Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { timeOf, useIsOld } from '../../api/last-change'
import type { components } from '../../api/schema'
import { useRefusal } from '../../api/session'
import { sizeText } from '../../format/size'
import { AskAgain, Asked } from '../../parts/stale-notice'
import { Card, Nothing } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { QUESTION_PERMISSION, questionQuery } from '../../parts/question'
import { capacityQuestion, whatIfQuestion } from '../../parts/question-request'
import { standardSpec } from '../../parts/standard-spec'
import { Status } from '../../parts/status'
import { texts } from '../../texts'
import { nodeGroupsQuery } from '../topology/topology-data'
import { withoutReserve } from './summary-data'

const own = texts.overview.capacity
/** The calculation stops at this number of instances. */
const MOST = 200
/** A what-if question without failures or new instances returns the present reserve. */
const ASKS_RESERVE = { nodes: [] }

export function CapacityCard({ cluster }: { cluster: components['schemas']['ClusterView'] }) {
  const refusal = useRefusal()
  const refusals = [refusal(QUESTION_PERMISSION['/3/capacity']), refusal(QUESTION_PERMISSION['/3/whatif'])]
  const spec = standardSpec(cluster)
  const asksRoom = { spec, max_instances: MOST }
  const [counts, dies] = refusals.map((why) => why === undefined)
  const nodesUnseen = refusal('nodes.list')
  const room = useQuery({ ...questionQuery('/3/capacity', asksRoom), enabled: counts })
  const reserve = useQuery({ ...questionQuery('/3/whatif', ASKS_RESERVE), enabled: dies })
  const nodes = useQuery({ ...nodeGroupsQuery, enabled: dies && nodesUnseen === undefined })
  const groupByNode = new Map((nodes.data ?? []).map(({ name, group }) => [name, group ?? '']))
  const failing = reserve.data && nodes.data && withoutReserve(reserve.data, groupByNode)
  const groups = room.data?.groups.map(({ group }) => group) ?? reserve.data?.groups.map(({ group }) => group) ?? []
  const requested = [...(counts ? [room] : []), ...(dies ? [reserve] : [])]
  const [oldest] = [room.data, reserve.data]
    .filter((reported) => reported !== undefined)
    .sort((one, other) => (timeOf(one) ?? 0) - (timeOf(other) ?? 0))
  const isOld = useIsOld(reserve.data)
  return (
    <Card
      title={own.title}
      aside={
        <AskAgain
          requests={[...(counts ? [capacityQuestion(asksRoom)] : []), ...(dies ? [whatIfQuestion(ASKS_RESERVE)] : [])]}
          disabled={requested.length === 0}
          busy={requested.some(({ isFetching }) => isFetching)}
          ask={() => requested.forEach(({ refetch }) => void refetch())}
        />
      }
    >
      <ProblemBox error={room.error ?? reserve.error ?? nodes.error} />
      {groups.length > 0 && (
        <Table fz="sm" aria-label={own.title} horizontalSpacing={14}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{own.group}</Table.Th>
              <Table.Th>{own.room}</Table.Th>
              <Table.Th>{own.reserve}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {groups.map((group) => (
              <Table.Tr key={group}>
                <Table.Td>
                  <Link to="/topology" search={{ group }}>
                    {group}
                  </Link>
                </Table.Td>
                <Table.Td>
                  <Room told={room.data?.groups.find((one) => one.group === group)} />
                </Table.Td>
                <Table.Td>
                  {failing === undefined ? '–' : <Reserve {...{ group, isOld, nodes: failing.get(group) }} />}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {groups.length === 0 && requested.some(({ isFetching }) => isFetching) && <Nothing text={texts.table.loading} />}
      {[...refusals, dies ? nodesUnseen : undefined].map(
        (why) => why !== undefined && <Nothing key={why} text={texts.overview.notShown(why)} />,
      )}
      {counts && <Nothing text={own.spec(sizeText(spec.memory_mib), spec.vcpus, diskText(spec.disks_mib?.[0]))} />}
      <Asked answer={oldest} />
    </Card>
  )
}

const diskText = (mib: number | undefined): string | undefined => (mib === undefined ? undefined : sizeText(mib))

function Room({ told: reported }: { told: components['schemas']['GroupCapacity'] | undefined }) {
  if (reported === undefined) return <>–</>
  return <span title={reported.reason ?? undefined}>{own.fits(reported.fits, MOST)}</span>
}

function Reserve({ group, isOld, nodes = [] }: { group: string; isOld: boolean; nodes?: readonly string[] }) {
  const [first] = nodes
  // A good answer of before is no promise.
  if (first === undefined) return <Status tone={isOld ? 'off' : 'good'} text={own.safe} />
  return (
    <Link to="/topology" search={{ group, mode: 'what-if' }} title={nodes.slice(0, 10).join(', ')}>
      <Status tone="warn" text={own.unsafe(nodes.length)} />
    </Link>
  )
}
