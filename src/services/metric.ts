/** A metric in prom-client's JSON, without the package's code. Values with the same labels are added up. */
export const metric = (
  name: string,
  help: string,
  type: 'gauge' | 'counter' | 'histogram',
  values: readonly object[],
): object => ({ name, help, type, values, aggregator: 'sum' })
