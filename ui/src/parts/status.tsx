// A state in a word, with a colour beside it that only repeats what the word says.
export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'off'

export function Status({ tone, text }: { tone: Tone; text: string }) {
  return (
    <span style={{ display: 'inline-flex', alignItems: 'center', whiteSpace: 'nowrap' }}>
      <span className={`dot dot-${tone}`} aria-hidden="true" />
      {text}
    </span>
  )
}
