// What the search offers.
export interface Found {
  readonly id: string
  readonly label: string
  /** What fits, if it is not the label, or where the object is. */
  readonly note?: string
  /** What the page to go to is asked for, if this is not the label. */
  readonly target?: string
}
