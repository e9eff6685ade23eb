import type { Option, OptionType } from '../command'

type Details = Partial<Omit<Option, 'long' | 'dest' | 'type' | 'help'>>

/** An option without a value; it stores true unless it says otherwise. */
export const flag = (long: string | readonly string[], dest: string, help: string, details: Details = {}): Option => ({
  long: typeof long === 'string' ? [long] : long,
  dest,
  type: 'flag',
  help,
  ...details,
})

export const value = (
  long: string | readonly string[],
  dest: string,
  type: OptionType,
  help: string,
  details: Details = {},
): Option => ({ long: typeof long === 'string' ? [long] : long, dest, type, help, ...details })
