// Checks a submission through /3 again when its job holds its locks: the objects must be unchanged, and within the
// token's scope. A job's own submissions are checked when it submits them.
import { firstMark, marksOf } from '../../jobs/marks'
import { MARK, type Rights } from '../../model/marks'
import type { ConfigData } from '../../model/config'
import { OpPrereqError, REFUSED } from '../../model/errors'
import type { JobId, WireOpCode } from '../../rpc/luxi/calls'
import type { Precondition, TokenScope } from '../../rpc/luxi/gantry'
import type { Selector, Wconfd } from '../../rpc/wconfd/calls'
import { Access } from '../access/access'

/** Throws OpPrereqError. Costs nothing for a job from another door. */
export async function authorizeStart(op: WireOpCode, job: JobId, wconfd: Pick<Wconfd, 'gantryRead'>): Promise<void> {
  const match = marksOf(op, job, MARK.match).flatMap(parsePreconditions)
  const scopes = marksOf(op, job, MARK.scope).map(parseScope)
  if (match.length === 0 && scopes.length === 0) return
  const config = await wconfd.gantryRead(scopes.length > 0 ? EVERYTHING : selectorOf(match))
  const nobody = { user: '', token: '', permissions: ['*'] }
  const accesses = scopes.map((scope) => new Access(nobody, { ...scope, permissions: ['*'] }))
  checkPreconditions(config, match, (object) => accesses.every((access) => seesWanted(access, config, object)))
  for (const access of accesses) access.check(config, op)
}

/** Throws, before any job is submitted, unless the opcode's submitter may also do what these jobs do. */
export async function checkSubmitted(
  op: WireOpCode,
  jobs: readonly (readonly WireOpCode[])[],
  wconfd: Pick<Wconfd, 'gantryRead'>,
): Promise<void> {
  const mark = firstMark(op, MARK.rights)
  if (mark === null) return
  const { user, token } = parseRights(mark)
  const scope = firstMark(op, MARK.scope)
  const objects = scope === null ? { tags: [], groups: [] } : parseScope(scope)
  const identity = { user: '', token: token === null ? null : '', permissions: user }
  const access = new Access(identity, token === null ? null : { ...objects, permissions: token })
  const config = await wconfd.gantryRead(EVERYTHING)
  for (const step of jobs.flat()) access.checkSubmitted(config, step)
}

/** A scope may depend on objects that the opcode does not name. */
const EVERYTHING: Selector = { instances: 'all', nodes: 'all', groups: 'all', networks: 'all' }

function selectorOf(match: readonly Precondition[]): Selector {
  const of = (desired: Precondition['kind']): string[] =>
    match.filter(({ kind }) => kind === desired).map(({ uuid }) => uuid)
  return { instances: of('instance'), nodes: of('node'), groups: of('group'), networks: of('network') }
}

/** Throws OpPrereqError that names the changed objects, as far as the caller may see them. */
export function checkPreconditions(
  config: ConfigData,
  match: readonly Precondition[],
  sees: (object: Precondition) => boolean = () => true,
): void {
  const complaints = match.flatMap((desired) => {
    const found = serialOf(config, desired)
    if (found === desired.serial_no) return []
    if (!sees(desired)) return ['an object outside the scope of the token has changed']
    return [found === undefined ? goneText(desired) : serialText(desired, found)]
  })
  if (complaints.length > 0) throw changed([...new Set(complaints)])
}

/**
 * Checks the caller's preconditions. An object that the caller may not see is reported as gone, whether it exists or
 * not.
 */
export function checkAskedFor(access: Access, config: ConfigData, match: readonly Precondition[]): void {
  const hidden = match.filter((desired) => !seesWanted(access, config, desired))
  if (hidden.length > 0) throw changed(hidden.map(goneText))
  checkPreconditions(config, match)
}

const goneText = ({ kind, uuid }: Precondition): string => `${kind} ${uuid} is gone`
const serialText = ({ kind, uuid, serial_no }: Precondition, found: number): string =>
  `${kind} ${uuid} has serial number ${found} now, not ${serial_no}`
const changed = (complaints: readonly string[]): OpPrereqError =>
  new OpPrereqError(`The cluster has changed: ${complaints.join('; ')}`, REFUSED.changed)

/** The cluster itself is in no scope, but a caller that may query it learns its serial number. */
export const seesWanted = (access: Access, config: ConfigData, { kind, uuid }: Precondition): boolean =>
  kind === 'cluster' ? access.may('cluster.info') : access.sees(config, `${kind}/${uuid}`)

function serialOf(config: ConfigData, { kind, uuid }: Precondition): number | undefined {
  switch (kind) {
    case 'cluster':
      return config.cluster.uuid === uuid ? config.cluster.serial_no : undefined
    case 'instance':
      return config.instances[uuid]?.serial_no
    case 'node':
      return config.nodes[uuid]?.serial_no
    case 'group':
      return config.nodegroups[uuid]?.serial_no
    case 'network':
      return config.networks[uuid]?.serial_no
  }
}

/** Only the submission service writes these marks; a malformed one refuses the job. */
function parsePreconditions(text: string): Precondition[] {
  const value: unknown = JSON.parse(text)
  if (!Array.isArray(value)) throw new OpPrereqError('The preconditions of the job cannot be read', REFUSED.changed)
  return value as Precondition[]
}

const parseRights = (text: string): Rights => JSON.parse(text) as Rights

const parseScope = (text: string): Pick<TokenScope, 'tags' | 'groups'> =>
  JSON.parse(text) as Pick<TokenScope, 'tags' | 'groups'>
