// When an answer was asked for that is not asked for again with each event, whether the cluster has changed since, and the way to ask again.
import { Button, Group } from '@mantine/core'
import { timeOf, useIsOld } from '../api/last-change'
import { clockText, zoneText } from '../format/time'
import { texts } from '../texts'
import { CopyAs } from './copy-as'
import { Nothing } from './page'
import type { Request } from './request'

type AskedText = (time: string, zone: string) => string

interface Question {
  /** Nothing is told before there is one. */
  readonly answer: object | undefined
  /** Said of an answer that follows the events that it depends on; otherwise it is told whether the cluster has changed since. */
  readonly followed?: AskedText
}

export function Asked({ answer, followed }: Question) {
  const isOld = useIsOld(answer)
  const time_ms = timeOf(answer)
  if (time_ms === undefined) return null
  const { asked: requested, changedSince } = texts.overview
  const text = (followed ?? requested)(clockText(time_ms), zoneText())
  return <Nothing text={isOld && followed === undefined ? `${text} ${changedSince}` : text} />
}

interface Asking {
  /** Those that ask it, for scripts. */
  readonly requests: readonly Request[]
  readonly disabled: boolean
  readonly busy: boolean
  readonly ask: () => void
}

export const AskAgain = ({ requests, disabled, busy, ask }: Asking) => (
  <Group gap={0} justify="flex-end">
    {!disabled && <CopyAs small request={requests} />}
    <Button variant="subtle" size="compact-xs" disabled={disabled} loading={busy} onClick={ask}>
      {texts.overview.again}
    </Button>
  </Group>
)
