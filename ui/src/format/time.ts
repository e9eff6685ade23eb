// Texts for times, with their zone, and for durations.
import { texts } from '../texts'

const words = texts.time
const WHOLE = new Intl.DateTimeFormat('sv-SE', {
  ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' },
  timeZoneName: 'short',
})

export const timeText = (time: string | null | undefined): string =>
  time === null || time === undefined ? '–' : WHOLE.format(new Date(time))

const CLOCK = new Intl.DateTimeFormat('sv-SE', { hour: '2-digit', minute: '2-digit' })

/** The time of day without a zone, for places that show the zone elsewhere. */
export const clockText = (time: string | number | undefined): string =>
  time === undefined ? '–' : CLOCK.format(new Date(time))

const SECONDS = new Intl.DateTimeFormat('sv-SE', { hour: '2-digit', minute: '2-digit', second: '2-digit' })

export const secondText = (time: string | null | undefined): string =>
  time === null || time === undefined ? '–' : SECONDS.format(new Date(time))

export const zoneText = (): string =>
  WHOLE.formatToParts(new Date()).find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC'

export function agoText(time: string | null | undefined, now: number): string {
  return time === null || time === undefined ? '–' : words.ago(spanText(now - Date.parse(time)))
}

export function spanText(span_ms: number): string {
  const seconds = Math.max(0, Math.round(span_ms / 1000))
  if (seconds < 90) return words.seconds(seconds)
  if (seconds < 90 * 60) return words.minutes(Math.round(seconds / 60))
  if (seconds < 48 * 3600) return words.hours(Math.round(seconds / 3600))
  return words.days(Math.round(seconds / 86_400))
}
