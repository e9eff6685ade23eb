/** The colour of a state. It only repeats the word beside it. */
export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'off'
