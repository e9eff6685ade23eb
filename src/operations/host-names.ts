// Resolves names of new hosts. An opcode asks once for each name, so that its steps agree.
import { resolveFully } from '../lib/net/resolve'
import { ECODE, OpPrereqError } from '../model/errors'
import { normalHostname } from '../model/names'
import type { UnitContext } from './unit-context'

export interface Resolved {
  readonly name: string
  readonly ip: string
}

type Answer = Awaited<ReturnType<typeof resolveFully>>

const requested = new WeakMap<UnitContext, Map<string, Promise<Answer>>>()

export async function resolvedHost(ctx: UnitContext, input: string, family: 0 | 4 | 6 = 0): Promise<Answer> {
  const known = requested.get(ctx) ?? new Map<string, Promise<Answer>>()
  requested.set(ctx, known)
  const answer = known.get(input) ?? resolveFully(normalHostname(input), family)
  known.set(input, answer)
  return answer
}

/**
 * The full name and address of a new instance; the given name must be the beginning of the full one. In a virtual
 * cluster there may be no address, since no name server needs to know its names.
 */
export async function saneHost(ctx: UnitContext, input: string): Promise<Partial<Resolved> & Pick<Resolved, 'name'>> {
  const name = normalHostname(input)
  const isFirst = requested.get(ctx)?.has(input) !== true
  const found = await resolvedHost(ctx, input)
  if ('error' in found && ctx.env.paths.root !== '') return { name }
  if ('error' in found)
    throw new OpPrereqError(`The given name (${name}) does not resolve: ${found.error}`, ECODE.RESOLVER)
  if (isFirst && found.name !== input) ctx.log.info(`Resolved given name '${input}' to '${found.name}'`)
  if (found.name !== name && !found.name.startsWith(`${name}.`))
    throw new OpPrereqError(
      `Resolved hostname '${found.name}' does not look the same as given hostname '${input}'`,
      ECODE.INVAL,
    )
  return found
}
