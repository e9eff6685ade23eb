// The instances that come back and where, those that do not, and why.
import { Alert, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { components } from '../../api/schema'
import { Status } from '../../parts/status'
import { texts } from '../../texts'
import { InstanceLink, Moves } from './moves-table'

type WhatIf = components['schemas']['WhatIf']
const own = texts.topology.whatIf

export function WhatIfResult({ told: reported, old }: { told: WhatIf; old: boolean }) {
  const well = reported.lost.length + reported.unmirrored.length + reported.refused.length === 0
  const move = [own.instance, own.from, own.to]
  const why = [own.instance, own.why]
  return (
    <section
      className="plan"
      aria-label={own.ask}
      aria-live="polite"
      style={{ borderStyle: old ? 'dashed' : undefined }}
    >
      {old && (
        <Text size="xs" fw={600}>
          {own.old}
        </Text>
      )}
      {well ? (
        <Status tone="good" text={fineText(reported)} />
      ) : (
        <Alert color="red" variant="outline" p="xs">
          <Text size="sm" fw={600}>
            {own.bad}
          </Text>
        </Alert>
      )}
      {reported.already_down.length > 0 && <Status tone="bad" text={own.down(reported.already_down.length)} />}
      <Status
        tone={reported.without_reserve.length === 0 ? 'good' : 'warn'}
        text={own.noReserve(reported.without_reserve.length)}
      />
      <Moves
        {...{ title: own.lists.lost, head: why, rows: reported.lost }}
        cells={({ instance, reason }) => [<InstanceLink key="name" name={instance} />, reason]}
      />
      <Moves
        {...{ title: own.lists.refused, head: [own.count, own.why], rows: reported.refused }}
        cells={({ count, reason }) => [own.arrival(count), reason]}
      />
      <Moves
        {...{ title: own.lists.unmirrored, head: why, rows: reported.unmirrored }}
        cells={({ instance, reason }) => [<InstanceLink key="name" name={instance} />, reason]}
      />
      <Moves
        {...{ title: own.lists.alreadyDown, head: why, rows: reported.already_down }}
        cells={({ instance, reason }) => [<InstanceLink key="name" name={instance} />, reason]}
      />
      <Moves
        {...{ title: own.lists.restored, head: move, rows: reported.restored }}
        cells={({ instance, from, to }) => [<InstanceLink key="name" name={instance} />, from[0], to[0]]}
      />
      <Moves
        {...{ title: own.lists.mirrored, head: move, rows: reported.mirrored }}
        cells={({ instance, from, to }) => [<InstanceLink key="name" name={instance} />, from[1], to[1]]}
      />
      <Moves
        {...{ title: own.lists.placed, head: [own.count, own.to], rows: reported.placed }}
        cells={({ nodes }) => [own.arrival(1), nodes.join(', ')]}
      />
      <Moves
        {...{ title: own.lists.withoutReserve, head: [texts.topology.columns.name], rows: reported.without_reserve }}
        cells={(name) => [
          <Link key="node" to="/nodes/$name" params={{ name }}>
            {name}
          </Link>,
        ]}
      />
    </section>
  )
}

/** Only as much as is true: instances on a node that was offline before do not run. */
export function fineText({ already_down: down, dead }: WhatIf): string {
  if (down.length === 0) return own.fine
  return dead.length > 0 ? own.fineMoved : own.placedAll
}
