// An event as lists of what has happened have it.
export interface PastEvent {
  readonly id: string
  readonly type: string
  readonly time: string
  /** `instance/web1` */
  readonly objects?: readonly string[]
  readonly data: Readonly<Record<string, unknown>>
}
