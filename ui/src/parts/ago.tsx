// How long ago a time was. It ticks, and tells the time itself with its zone.
import { useState, useSyncExternalStore } from 'react'
import { agoText, timeText } from '../format/time'
import { ticker } from './ticker'

export function Ago({ time }: { time: string | null | undefined }) {
  const tick_ms = useSyncExternalStore(ticker.subscribe, ticker.last, ticker.last)
  // The last tick may have been before that.
  const [shown_ms] = useState(() => Date.now())
  if (time === null || time === undefined) return '–'
  return (
    <time dateTime={time} title={timeText(time)}>
      {agoText(time, Math.max(tick_ms, shown_ms))}
    </time>
  )
}
