// Shortens foreign texts of any length for errors and logs.

export const startOf = (text: string, chars: number): string =>
  text.length <= chars ? text : `${text.slice(0, chars)}[...]`

export const endOf = (text: string, chars: number): string =>
  text.length <= chars ? text : `[...]${text.slice(-chars)}`
