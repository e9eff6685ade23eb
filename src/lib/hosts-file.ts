// Lines of a hosts file: an address, and the names that it has.

/** The text with one line for the name; without an address it has none any more. */
export function withHost(text: string, name: string, address: string | undefined): string {
  const lines = text.split('\n').filter((line) => line !== '' && !namesOf(line).includes(name))
  if (address !== undefined) lines.push(`${address}\t${name} ${name.split('.')[0]}`)
  return lines.join('\n') + '\n'
}

export const hostAddress = (text: string, name: string): string | undefined =>
  text
    .split('\n')
    .find((line) => namesOf(line).includes(name))
    ?.trim()
    .split(/\s+/)[0]

const namesOf = (line: string): string[] => line.replace(/#.*/, '').trim().split(/\s+/).slice(1)
