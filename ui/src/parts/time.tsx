// Times: as a whole, of the day, or how long ago. Each has its date and zone as its title.
import { useState, useSyncExternalStore } from 'react'
import { agoText, secondText, timeText } from '../format/time'
import { ticker } from './ticker'

interface TimeProps {
  readonly time: string | null | undefined
}

/** A short text stays on its line. */
export function Time({ time, text }: TimeProps & { readonly text?: string }) {
  if (time === null || time === undefined) return '–'
  return (
    <time dateTime={time} title={timeText(time)} style={text === undefined ? undefined : { whiteSpace: 'nowrap' }}>
      {text ?? timeText(time)}
    </time>
  )
}

/** For many times of the same day, such as those of a log. */
export const Clock = ({ time }: TimeProps) => <Time time={time} text={secondText(time)} />

/** It ticks. */
export function Ago({ time }: TimeProps) {
  const tick_ms = useSyncExternalStore(ticker.subscribe, ticker.last, ticker.last)
  // The last tick may have been before that.
  const [shown_ms] = useState(() => Date.now())
  return <Time time={time} text={agoText(time, Math.max(tick_ms, shown_ms))} />
}
