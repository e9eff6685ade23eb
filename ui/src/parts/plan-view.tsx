// Shows a plan: whether it is possible, its changes, checks, locks and calls to nodes.
import { Alert, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { sizeText } from '../format/size'
import { texts } from '../texts'
import { Diff } from './diff'
import { differences, parameterText } from '../format/differences'
import { Status } from './status'
import { type Plan, reasonsOf } from './use-plan'

type PlannedOpcode = Plan['ops'][number]
const own = texts.plan

export function PlanView({ plan }: { plan: Plan }) {
  return (
    <section className="plan" aria-label={own.title} aria-live="polite">
      <Verdict plan={plan} />
      {plan.ops.map((op, at) => (
        <Stack key={at} gap={8}>
          {plan.ops.length > 1 && (
            <Text size="sm" fw={600}>
              {op.summary}
            </Text>
          )}
          {op.possible !== false && <PlannedSteps op={op} />}
        </Stack>
      ))}
    </section>
  )
}

export function Verdict({ plan }: { plan: Plan }) {
  const { possible } = plan
  if (possible === true) return <Status tone="good" text={own.possible} />
  const impossible = possible === false
  return (
    <Alert color={impossible ? 'red' : 'orange'} variant="outline" p="xs" role={impossible ? 'alert' : undefined}>
      <Text size="sm" fw={600}>
        {impossible ? own.impossible : own.unsure}
      </Text>
      {reasonsOf(plan).map((reason) => (
        <Text key={reason} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {reason}
        </Text>
      ))}
    </Alert>
  )
}

/** Lists with at most this many lines are expanded. */
const FEW = 4

/** Removes the sign of importance at the start of a log line. */
const withoutSign = (line: string): string => line.replace(/^(\*|- [A-Z]+:) /, '')

function PlannedSteps({ op }: { op: PlannedOpcode }) {
  const calls = counted(op.node_calls.map(({ node, call }) => `${call} → ${node}`))
  return (
    <>
      {op.messages.length > 0 && (
        <List title={own.messages} items={op.messages.map(withoutSign)} opened={op.messages.length <= FEW} />
      )}
      <Changes op={op} />
      <List title={own.nodeCalls} items={calls} />
      <List
        title={own.locks}
        items={op.locks.map(({ lock, mode }) => `${lock} (${mode === 'exclusive' ? own.exclusive : own.shared})`)}
      />
      <List
        title={own.checks}
        items={op.prerequisites.map(
          ({ what, passed }) => `${passed === true ? '✓' : passed === false ? '✗' : '?'} ${what}`,
        )}
      />
      {op.hooks !== null && (
        <List title={own.hooks(op.hooks.path)} items={[...new Set([...op.hooks.pre, ...op.hooks.post])]} />
      )}
      {op.jobs.length > 0 && <List title={own.jobs} items={op.jobs.map((ops) => ops.join(', '))} opened />}
    </>
  )
}

function Changes({ op }: { op: PlannedOpcode }) {
  const changes = op.changes
    .map((change) => ({ ...change, rows: change.change === 'changed' ? shownOf(change.before, change.after) : [] }))
    .filter(({ change, rows }) => change !== 'changed' || rows.length > 0)
  return (
    <Fold title={own.changes} count={changes.length} opened>
      {changes.length === 0 && <Text size="xs">{own.noChanges}</Text>}
      {changes.map(({ kind, uuid, name, change, rows }) => (
        <div key={`${kind}/${uuid}`}>
          <Text size="xs" fw={600} style={{ overflowWrap: 'anywhere' }}>
            {name === uuid ? kind : `${kind} ${name}`}: {own.change[change]}
          </Text>
          {rows.length > 0 && <Diff label={`${kind} ${name}`} rows={rows} before={own.beforeIt} after={own.afterIt} />}
        </div>
      ))}
      {op.changes_note !== null && (
        <Text size="xs" c="dimmed">
          {op.changes_note}
        </Text>
      )}
    </Fold>
  )
}

type Fields = Readonly<Record<string, unknown>> | null

/** The differences, without the serial number and the times that each change sets. */
const shownOf = (before: Fields, after: Fields) =>
  differences(before, after, (name, value) =>
    // The configuration has the size of a disk in MiB.
    name === 'size' && typeof value === 'number' ? sizeText(value) : parameterText(name, value),
  ).filter(({ name }) => !['serial_no', 'mtime', 'ctime'].includes(name))

function List({ title, items, opened }: { title: string; items: readonly string[]; opened?: boolean }) {
  return (
    <Fold title={title} count={items.length} opened={opened}>
      <ul className="plain-list">
        {items.map((item, at) => (
          <li key={at}>{item}</li>
        ))}
      </ul>
    </Fold>
  )
}

function Fold({
  title,
  count,
  opened = false,
  children,
}: {
  title: string
  count: number
  opened?: boolean
  children: ReactNode
}) {
  return (
    <details open={opened && count > 0}>
      <summary>
        {title} <span className="dim">{count === 0 ? own.nothing : count}</span>
      </summary>
      {children}
    </details>
  )
}

/** Each line once, with its number of occurrences. */
function counted(lines: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
  return [...counts].map(([line, count]) => `${line}${own.times(count)}`)
}
