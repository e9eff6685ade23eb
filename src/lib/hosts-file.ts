// Lines of a hosts file: an address, and the names that it has.

/** The text with one line for the name; without an address it has none any more. */
export function withHost(text: string, name: string, address: string | undefined): string {
  const lines = text.split('\n').filter((line) => line !== '' && !namesOf(line).includes(name))
  if (address !== undefined) lines.push(`${address}\t${name} ${name.split('.')[0]}`)
  return lines.join('\n') + '\n'
}

export const hostAddress = (text: string, name: string): string | undefined => hostLine(text, name)?.ip

/** The address of a name, and the full one of the names that it has: the first with a dot in it. */
export function hostLine(text: string, name: string): { ip: string; name: string } | undefined {
  const line = text.split('\n').find((one) => namesOf(one).includes(name))
  const [ip, ...names] = line?.replace(/#.*/, '').trim().split(/\s+/) ?? []
  return ip === undefined ? undefined : { ip, name: names.find((one) => one.includes('.')) ?? name }
}

const namesOf = (line: string): string[] => line.replace(/#.*/, '').trim().split(/\s+/).slice(1)
