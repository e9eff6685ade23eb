// A state as a word. The colour only repeats the word.
export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'off'

export function Status({ tone, text }: { tone: Tone; text: string }) {
  return (
    <span style={{ display: 'inline-flex', alignItems: 'center' }}>
      <span className={`dot dot-${tone}`} aria-hidden="true" />
      {text}
    </span>
  )
}
