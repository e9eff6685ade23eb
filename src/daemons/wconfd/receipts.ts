// Remembers the changes that were made for each owner of locks, with their results. A client whose answer was lost sends its
// change again, with the same id, and gets the answer of the first time. A crash leaves the receipts in the journal, a stop
// leaves them in gantry.data. They go when the owner gives back its locks, as it has got all its answers then.
import type { Receipt } from '../../config/delta'
import { change, type NamedChange } from '../../config/changes'
import { isObject } from '../../lib/shapes/shape'
import { ownerKey } from '../../locks/state'
import type { ClientId } from '../../model/lock'
import { RECEIPTS_PER_OWNER_MAX } from '../../model/limits/wconfd'

/** The section of gantry.data. Its keys are owners. */
export const RECEIPTS_SECTION = 'receipts'

/** Daemons change the configuration without locks, and share a list, which no stop keeps: they set values. */
export const WITHOUT_LOCKS = ''

type Answers = Map<string, Promise<readonly unknown[]>>

export class Receipts {
  private readonly owners = new Map<string, Answers>()

  constructor(known: readonly Receipt[]) {
    for (const [owner, id, results] of known) this.note(owner, id, Promise.resolve(results))
  }

  /** Makes the change, unless it was made before. */
  once(owner: string, id: string, make: () => Promise<readonly unknown[]>): Promise<readonly unknown[]> {
    const known = this.owners.get(owner)?.get(id)
    if (known !== undefined) return known
    const made = make()
    this.note(owner, id, made)
    // A refused change was not made.
    made.catch(() => this.owners.get(owner)?.delete(id))
    return made
  }

  forget(client: ClientId): void {
    this.owners.delete(ownerKey(client))
  }

  /** The changes that bring the section to what is known, without owners that have left. */
  async saved(before: Readonly<Record<string, unknown>>, isOwner: (owner: string) => boolean): Promise<NamedChange[]> {
    const desired = new Map<string, Record<string, unknown>>()
    for (const [owner, answers] of this.owners) {
      const made = await settled(answers)
      if (isOwner(owner) && Object.keys(made).length > 0) desired.set(owner, made)
    }
    const gone = Object.keys(before).filter((owner) => !desired.has(owner))
    return [
      ...gone.map((owner) => change('setGantry', RECEIPTS_SECTION, owner, null)),
      ...[...desired].map(([owner, made]) => change('setGantry', RECEIPTS_SECTION, owner, made)),
    ]
  }

  private note(owner: string, id: string, results: Promise<readonly unknown[]>): void {
    const answers: Answers = this.owners.get(owner) ?? new Map()
    this.owners.set(owner, answers.set(id, results))
    const [oldest] = answers.keys()
    if (answers.size > RECEIPTS_PER_OWNER_MAX && oldest !== undefined) answers.delete(oldest)
  }
}

async function settled(answers: Answers): Promise<Record<string, unknown>> {
  const made: Record<string, unknown> = {}
  for (const [id, results] of answers)
    await results.then(
      (list) => (made[id] = list),
      () => undefined,
    )
  return made
}

/** The receipts of the section. */
export const receiptsIn = (section: Readonly<Record<string, unknown>>): Receipt[] =>
  Object.entries(section).flatMap(([owner, made]) =>
    Object.entries(isObject(made) ? made : {}).map(([id, results]): Receipt => [
      owner,
      id,
      Array.isArray(results) ? (results as readonly unknown[]) : [],
    ]),
  )
