// A map of a network's addresses. A square is an address, or a range that can be opened.
import { Button, Group, Text, UnstyledButton } from '@mantine/core'
import { useMemo, useState } from 'react'
import { ObjectLink } from '../../parts/names'
import { Card, Nothing } from '../../parts/page'
import { Rows } from '../../parts/rows'
import { texts } from '../../texts'
import type { Network } from './actions'
import { Addresses, type AddressSource, ownersOf, type Range, rangesOf } from './addresses'

const own = texts.networks.map
const SQUARES_MAX = 256
const LISTED_MAX = 256

export const sourceOf = (network: Network): AddressSource => {
  const { network: range, map, gateway, external_reservations: external, owners: reported } = network
  return { network: range, map, gateway, external, owners: ownersOf(reported) }
}

export function AddressMap({ network }: { network: Network }) {
  const addresses = useMemo(() => new Addresses(sourceOf(network)), [network])
  const all = { from: 0, to: addresses.count }
  const [observed, setSeen] = useState<Range>()
  const displayed = observed ?? all
  if (addresses.count === 0)
    return (
      <Card title={own.title}>
        <Nothing text={own.none} />
      </Card>
    )
  return (
    <Card
      title={own.title}
      aside={
        observed && (
          <Button variant="subtle" size="compact-xs" onClick={() => setSeen(undefined)}>
            {own.all}
          </Button>
        )
      }
    >
      <Text size="sm" c="dimmed" p="10px 14px 0">
        {own.text}
      </Text>
      <Legend />
      <Squares addresses={addresses} shown={displayed} look={setSeen} />
      <Used addresses={addresses} shown={displayed} />
    </Card>
  )
}

const Legend = () => (
  <Group gap="md" p="8px 14px" fz="xs">
    {Object.entries(own.kind).map(([kind, label]) => (
      <span key={kind} className="key">
        <span className={`square square-${kind}`} aria-hidden="true" />
        {label}
      </span>
    ))}
  </Group>
)

interface SquaresProps {
  readonly addresses: Addresses
  readonly shown: Range
  readonly look: (range: Range) => void
}

function Squares({ addresses, shown: displayed, look }: SquaresProps) {
  return (
    <div className="squares" role="group" aria-label={own.title}>
      {rangesOf(displayed, SQUARES_MAX).map((range) => (
        <Square key={range.from} addresses={addresses} range={range} look={look} />
      ))}
    </div>
  )
}

function Square({ addresses, range, look }: { addresses: Addresses; range: Range; look: (range: Range) => void }) {
  const { from, to } = range
  const first = addresses.at(from)
  if (to - from === 1) {
    const label = own.one(first.text, own.kind[first.kind] ?? first.kind, first.owner)
    return <span className={`square square-${first.kind}`} role="img" aria-label={label} title={label} />
  }
  const used = addresses.used(from, to)
  const label = own.range(first.text, addresses.at(to - 1).text, used, to - from)
  return (
    <UnstyledButton
      className={`square square-${used === 0 ? 'free' : 'some'}`}
      aria-label={label}
      title={label}
      onClick={() => look(range)}
    >
      <span style={{ height: `${Math.max(used === 0 ? 0 : 12, (used / (to - from)) * 100)}%` }} />
    </UnstyledButton>
  )
}

function Used({ addresses, shown: { from, to } }: { addresses: Addresses; shown: Range }) {
  const found = addresses.usedOf(from, to, LISTED_MAX)
  const more = addresses.used(from, to) - found.length
  return (
    <>
      <Rows
        label={own.used}
        head={own.columns}
        none={own.kind['free'] ?? ''}
        rows={found.map(({ text, kind, owner }) => [
          <span key="text" className="mono">
            {text}
          </span>,
          own.kind[kind],
          owner === undefined ? '–' : <ObjectLink key="owner" kind="instance" name={owner} />,
        ])}
      />
      {more > 0 && <Nothing text={own.more(more)} />}
    </>
  )
}
