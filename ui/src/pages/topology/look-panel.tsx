// The chosen node of the picture: its instances with their mirrors, and the instances that it mirrors.
import { Progress, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { sizeText } from '../../format/size'
import { ProblemBox } from '../../parts/problem-box'
import { texts } from '../../texts'
import { type Instance, InstanceStatus } from '../instances/instance'
import { type ClusterNode, NodeRole } from '../nodes/node'
import { memoryShare } from './cluster-picture'
import { InstanceLink, Moves } from './moves-table'

const own = texts.topology.look

interface PanelProps {
  readonly node: ClusterNode | undefined
  readonly instances: readonly Instance[] | undefined
  readonly error: Error | null
}

export function LookPanel({ node, instances = [], error }: PanelProps) {
  if (node === undefined) return <Text size="sm">{own.none}</Text>
  const share = memoryShare(node)
  const primaries = instances.filter(({ pnode }) => pnode === node.name)
  const secondaries = instances.filter(({ snodes }) => snodes?.includes(node.name))
  return (
    <Stack gap="sm" fz="sm">
      <Title order={2} size="sm" style={{ overflowWrap: 'anywhere' }}>
        {node.name}
      </Title>
      <NodeRole role={node.role} />
      {share !== undefined && typeof node.mtotal === 'number' && (
        <div>
          <Text size="sm">{texts.topology.tile.memory(sizeText(share * node.mtotal), sizeText(node.mtotal))}</Text>
          <Progress value={share * 100} size="sm" aria-label={texts.topology.key.memory} />
        </div>
      )}
      <Link to="/nodes/$name" params={{ name: node.name }}>
        {own.page}
      </Link>
      <ProblemBox error={error} />
      <Moves
        {...{ title: own.primary, rows: primaries }}
        head={[texts.topology.whatIf.instance, texts.topology.columns.state, own.mirror]}
        cells={({ name, snodes, ...displayed }) => [
          <InstanceLink key="name" name={name} />,
          <InstanceStatus key="status" of={displayed} />,
          snodes?.length ? snodes.join(', ') : own.alone,
        ]}
      />
      <Moves
        {...{ title: own.secondary, rows: secondaries }}
        head={[texts.topology.whatIf.instance, texts.topology.columns.state, own.runsOn]}
        cells={({ name, pnode, ...displayed }) => [
          <InstanceLink key="name" name={name} />,
          <InstanceStatus key="status" of={displayed} />,
          pnode,
        ]}
      />
    </Stack>
  )
}
