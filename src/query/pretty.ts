/** JSON as Ganeti prints it in messages: one blank after commas and colons. */
export function pretty(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pretty).join(', ')}]`
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, part]) => `${JSON.stringify(key)}: ${pretty(part)}`)
      .join(', ')}}`
  return JSON.stringify(value) ?? 'null'
}
