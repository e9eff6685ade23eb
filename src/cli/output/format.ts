// Values for people, in Ganeti's notation: Python's words for true, false and nothing, sizes with units, local times.

export type Units = 'h' | 'm' | 'g' | 't'

/** A size in MiB; `h` chooses the unit and names it, the others are bare numbers in that unit. */
export function formatUnit(size_mib: number, units: Units): string {
  const suffix = (name: string) => (units === 'h' ? name : '')
  if (units === 'm' || (units === 'h' && size_mib < 1024)) return `${Math.round(size_mib)}${suffix('M')}`
  if (units === 'g' || (units === 'h' && size_mib < 1024 * 1024)) return `${oneDecimal(size_mib / 1024)}${suffix('G')}`
  return `${oneDecimal(size_mib / 1024 / 1024)}${suffix('T')}`
}

/** Python rounds halves to the even digit: 0.25 becomes 0.2, 0.75 becomes 0.8. */
function oneDecimal(value: number): string {
  const between = Number.isInteger(value * 4) && !Number.isInteger(value * 2)
  const below = Math.floor(value * 10)
  return between && below % 2 === 0 ? (below / 10).toFixed(1) : value.toFixed(1)
}

const two = (value: number): string => String(value).padStart(2, '0')

/** `2026-11-21 03:42:38`, local time, with microseconds when they are given. */
export function formatTime(seconds: unknown, microseconds?: number): string {
  if (typeof seconds !== 'number') return 'N/A'
  const date = new Date(seconds * 1000)
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  return `${day} ${time}${microseconds === undefined ? '' : `.${String(microseconds).padStart(6, '0')}`}`
}

/** A job's `[seconds, microseconds]`. */
export function formatTimestamp(timestamp: unknown): string {
  if (!Array.isArray(timestamp)) return 'N/A'
  return formatTime(timestamp[0], Number(timestamp[1]))
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** C's ctime: `Sat Nov 21 03:47:10 2026`. */
export function formatCtime(seconds: number): string {
  const date = new Date(seconds * 1000)
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  const day = String(date.getDate()).padStart(2)
  return `${DAYS[date.getDay()]} ${MONTHS[date.getMonth()]} ${day} ${time} ${date.getFullYear()}`
}
