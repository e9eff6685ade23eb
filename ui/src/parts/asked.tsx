// When an answer was asked for that is not asked for again with each event, whether the cluster has changed since, and the way to ask again.
import { Button } from '@mantine/core'
import { timeOf, useIsOld } from '../api/last-change'
import { clockText, zoneText } from '../format/time'
import { texts } from '../texts'
import { Nothing } from './page'

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
  const { asked, changedSince } = texts.overview
  const text = (followed ?? asked)(clockText(time_ms), zoneText())
  return <Nothing text={isOld && followed === undefined ? `${text} ${changedSince}` : text} />
}

interface Asking {
  readonly disabled: boolean
  readonly busy: boolean
  readonly ask: () => void
}

export const AskAgain = ({ disabled, busy, ask }: Asking) => (
  <Button variant="subtle" size="compact-xs" disabled={disabled} loading={busy} onClick={ask}>
    {texts.overview.again}
  </Button>
)
