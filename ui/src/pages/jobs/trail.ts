// The submitter and reasons of a job and its dependencies, read from its opcodes.
import type { components } from '../../api/schema'

type Job = components['schemas']['Job']

type Input = Readonly<Record<string, unknown>>

/** Entries that the master adds to the reason trail. */
const USER = 'gantry:user'
const TOKEN = 'gantry:token'

function trailOf({ ops }: Job): (readonly [source: string, text: string])[] {
  const input: Input = ops[0]?.input ?? {}
  const trail: readonly unknown[] = Array.isArray(input['reason']) ? input['reason'] : []
  return trail.flatMap((entry) =>
    Array.isArray(entry) && typeof entry[0] === 'string' ? [[entry[0], String(entry[1] ?? '')] as const] : [],
  )
}

const noted = (job: Job, source: string): string | undefined => trailOf(job).find(([name]) => name === source)?.[1]

export const userOf = (job: Job): string | undefined => noted(job, USER)
export const tokenOf = (job: Job): string | undefined => noted(job, TOKEN)

/** The reasons that users gave, without entries of programs. */
export const reasonsOf = (job: Job): string[] =>
  trailOf(job).flatMap(([source, text]) => (source === 'gnt:user' && text !== '' ? [text] : []))

export interface Dependency {
  readonly job: number
  /** The statuses with which it may end; any if the list is empty. */
  readonly statuses: readonly string[]
}

/** The dependencies of all opcodes, each once. A negative number, relative to this job, is left out. */
export function dependenciesOf({ ops }: Job): Dependency[] {
  const found = new Map<number, Dependency>()
  for (const { input } of ops) {
    const depends: unknown = input?.['depends']
    for (const entry of Array.isArray(depends) ? (depends as unknown[]) : []) {
      const [job, statuses] = Array.isArray(entry) ? (entry as unknown[]) : []
      if (typeof job === 'number' && job > 0)
        found.set(job, { job, statuses: Array.isArray(statuses) ? statuses.map(String) : [] })
    }
  }
  return [...found.values()]
}
