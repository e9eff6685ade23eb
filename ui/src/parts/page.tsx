// The frame of each page: its heading, its actions and its content.
import { Group, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { texts } from '../texts'

interface PageProps {
  readonly title: string
  /** Shown beside the title, such as a state or a count. */
  readonly note?: ReactNode
  readonly actions?: ReactNode
  /** The page is as high as the window, and its content scrolls within it. */
  readonly whole?: boolean
  readonly children: ReactNode
}

export function Page({ title, note, actions, whole = false, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · ${texts.product}`
  }, [title])
  return (
    <div className={whole ? 'page page-whole' : 'page'}>
      <Group justify="space-between" gap="sm">
        <Group gap="sm" style={{ minWidth: 0 }}>
          <Title order={1} style={{ overflowWrap: 'anywhere' }}>
            {title}
          </Title>
          {note}
        </Group>
        <Group gap={8}>{actions}</Group>
      </Group>
      {children}
    </div>
  )
}

export function Card({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section className="card" aria-label={title}>
      <div className="card-title">
        <Title order={2} size="sm">
          {title}
        </Title>
        {aside}
      </div>
      {children}
    </section>
  )
}

export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <Fact key={name} name={name} value={value} />
      ))}
    </dl>
  )
}

function Fact({ name, value }: { name: string; value: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value === null || value === undefined || value === false || value === '' ? '–' : value}</dd>
    </>
  )
}

/** Shown in an empty card. */
export const Nothing = ({ text }: { text: string }) => (
  <div style={{ padding: '12px 14px', color: 'var(--mantine-color-dimmed)', fontSize: '0.875rem' }}>{text}</div>
)
