// A state as a word, with a colour.
import type { Tone } from './tone'

export type { Tone } from './tone'

export function Status({ tone, text }: { tone: Tone; text: string }) {
  return (
    <span style={{ display: 'inline-flex', alignItems: 'center' }}>
      <span className={`dot dot-${tone}`} aria-hidden="true" />
      {text}
    </span>
  )
}
