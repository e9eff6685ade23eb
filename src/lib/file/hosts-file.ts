// Lines of a hosts file: an address and its names.
import { isIP } from 'node:net'

/** The text with one line for the name, or with none if there is no address. */
export function withHost(text: string, name: string, address: string | undefined): string {
  const lines = text.split('\n').filter((line) => line !== '' && !namesOf(line).includes(name))
  if (address !== undefined) lines.push(`${address}\t${name} ${name.split('.')[0]}`)
  return lines.join('\n') + '\n'
}

export const hostAddress = (text: string, name: string, version: 0 | 4 | 6 = 0): string | undefined =>
  hostLine(text, name, version)?.ip

/**
 * The address of a name (of this IP version, 0 for any), and its full name: the first name on the line that has a dot.
 */
export function hostLine(text: string, name: string, version: 0 | 4 | 6 = 0): { ip: string; name: string } | undefined {
  const [ip, ...names] =
    text
      .split('\n')
      .filter((one) => namesOf(one).includes(name))
      .map((one) => one.replace(/#.*/, '').trim().split(/\s+/))
      .find(([address = '']) => version === 0 || isIP(address) === version) ?? []
  return ip === undefined ? undefined : { ip, name: names.find((one) => one.includes('.')) ?? name }
}

const namesOf = (line: string): string[] => line.replace(/#.*/, '').trim().split(/\s+/).slice(1)
