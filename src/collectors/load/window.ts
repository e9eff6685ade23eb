// A window over samples of counters, limited in time and in number.

export interface Sample<T> {
  readonly at_ms: number
  readonly value: T
}

export class Window<T> {
  private samples: Sample<T>[] = []

  constructor(private readonly bounds: { readonly samples: number; readonly span_s: number }) {}

  add(sample: Sample<T>): void {
    const { samples, span_s } = this.bounds
    const since_ms = sample.at_ms - span_s * 1000
    this.samples = [...this.samples, sample].filter(({ at_ms }) => at_ms >= since_ms).slice(-samples)
  }

  get last(): Sample<T> | undefined {
    return this.samples.at(-1)
  }

  /** The oldest and the newest sample; undefined if they are less than `least_s` seconds apart. */
  ends(least_s: number): readonly [oldest: Sample<T>, newest: Sample<T>] | undefined {
    const [oldest, newest] = [this.samples[0], this.samples.at(-1)]
    if (oldest === undefined || newest === undefined || newest === oldest) return undefined
    return newest.at_ms - oldest.at_ms < least_s * 1000 ? undefined : [oldest, newest]
  }
}
