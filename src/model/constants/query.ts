// Queries: states of cells, kinds of fields, and what each door may query.
export const RESULT_STATUS = { normal: 0, unknown: 1, noData: 2, unavailable: 3, offline: 4 } as const
/** `[long, short]`: the text for a cell that is not normal. */
export const RESULT_STATUS_WORDS: Readonly<Record<number, readonly [string, string]>> = {
  '1': ['(unknown)', '??'],
  '2': ['(nodata)', '?'],
  '3': ['(unavail)', '-'],
  '4': ['(offline)', '*'],
}
