// Programs with recorded answers. A test lists the commands that it expects, and the output of each.
import type { CommandOptions, CommandResult, Run } from '../../src/lib/programs/run-command'

export interface RecordedProgram {
  /** The words of the command, or all in one string. */
  readonly argv: string | readonly string[]
  readonly stdout?: string
  readonly stderr?: string
  readonly code?: number
}

export interface RecordedPrograms {
  readonly run: Run
  /** Every command that was run, with its options. */
  readonly asked: readonly { readonly argv: readonly string[]; readonly options: CommandOptions }[]
  /** The recordings that were not used. */
  left(): readonly string[]
}

/** Each recording answers once. Recordings of the same command answer in their order. A command without a recording fails the test. */
export function recordedPrograms(recordings: readonly RecordedProgram[]): RecordedPrograms {
  const waiting = [...recordings]
  const requested: { argv: readonly string[]; options: CommandOptions }[] = []
  return {
    asked: requested,
    left: () => waiting.map(({ argv }) => wordsOf(argv).join(' ')),
    async run(argv, options) {
      requested.push({ argv, options })
      const at = waiting.findIndex((one) => sameWords(wordsOf(one.argv), argv))
      const [found] = at < 0 ? [] : waiting.splice(at, 1)
      if (found === undefined) throw new Error(`no recording of '${argv.join(' ')}'; left are ${waiting.length} others`)
      const { stdout = '', stderr = '', code = 0 } = found
      options.onOutput?.(stdout + stderr)
      return { code, signal: null, stdout, stderr, output: stdout + stderr, timedOut: false } satisfies CommandResult
    },
  }
}

const wordsOf = (argv: RecordedProgram['argv']): readonly string[] =>
  typeof argv === 'string' ? argv.split(' ') : argv

const sameWords = (a: readonly string[], b: readonly string[]): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The exit code and the text of the shell for a program that is not installed. */
export const notInstalled = (argv: RecordedProgram['argv']): RecordedProgram => ({
  argv,
  code: 127,
  stderr: `spawn ${wordsOf(argv)[0]} ENOENT`,
})
