// Parameters with their values and their origin: the object itself, or the object from which it inherits.
import { Button } from '@mantine/core'
import { useState } from 'react'
import { texts } from '../texts'
import { parameterText } from '../format/differences'
import { Card } from './page'
import { Rows } from './rows'

type Values = Readonly<Record<string, unknown>>

interface ParamsProps {
  readonly title: string
  readonly values: unknown
  readonly own?: unknown
  /** Names of both origins. */
  readonly names?: { readonly own: string; readonly inherited: string }
}

/** A longer list is collapsed to this many rows. */
const SHOWN_MAX = 10

export function ParamsCard({ title, values, own, names }: ParamsProps) {
  const words = texts.groups.value
  const set = flatOf(own)
  const all = Object.entries(flatOf(values))
  const [whole, setWhole] = useState(false)
  const displayed = whole ? all : all.slice(0, SHOWN_MAX)
  const head = [words.name, words.value, ...(names === undefined ? [] : [words.from])]
  return (
    <Card title={title}>
      <Rows
        label={title}
        head={head}
        none={words.none}
        rows={displayed.map(([name, value]) => [
          name,
          <span key="value" className="mono">
            {value || '–'}
          </span>,
          ...(names === undefined ? [] : [Object.hasOwn(set, name) ? names.own : names.inherited]),
        ])}
      />
      {all.length > SHOWN_MAX && (
        <Button
          variant="subtle"
          size="compact-xs"
          m="6px 8px 8px"
          aria-expanded={whole}
          onClick={() => setWhole(!whole)}
        >
          {whole ? words.fewer : words.all(all.length)}
        </Button>
      )}
    </Card>
  )
}

/** Flattens nested parameters: `drbd / metavg`. */
export function flatOf(values: unknown, before = ''): Record<string, string> {
  if (typeof values !== 'object' || values === null) return {}
  const entries = Object.entries(values as Values).flatMap(([name, value]): (readonly [string, string])[] =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(flatOf(value, `${before}${name} / `))
      : [[`${before}${name}`, parameterText(name, value)]],
  )
  return Object.fromEntries(entries)
}
