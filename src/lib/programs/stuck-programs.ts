// Programs that go on although they were killed: each waits in the kernel, mostly for a device that does not answer. Nobody waits for them, and
// no more are started that would only join them.

/** Programs of one name that may be stuck, whatever they work on. */
const SAME_PROGRAM_MAX = 16
/** Characters that an error shows of what a program works on. */
const ABOUT_CHARS = 200

interface Stuck {
  readonly pid: number
  readonly program: string
  /** What it works on. */
  readonly about: string
}

export class StuckPrograms {
  private readonly all = new Set<Stuck>()

  /** Returns what to call when it has ended after all. */
  add(stuck: Stuck): () => void {
    this.all.add(stuck)
    return () => void this.all.delete(stuck)
  }

  /** Why such a program must not be started now. */
  refusal(program: string, about: string): string | undefined {
    const same = [...this.all].filter((one) => one.program === program)
    const other =
      [...this.all].find((one) => one.about === about) ?? (same.length < SAME_PROGRAM_MAX ? undefined : same[0])
    return other && `${program} was not started, because ${waits(other)}`
  }
}

/** A sentence for people, with the way out. */
export const waits = ({ pid, program, about }: Stuck): string =>
  `${program} (process ${pid}, for ${about.slice(0, ABOUT_CHARS)}) waits in the kernel and cannot be ended: dmesg on this machine may say why. ` +
  'It ends when its device answers again; otherwise only a restart of the machine ends it'
