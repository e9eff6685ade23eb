// What a submission through /3 was promised, checked again when the job holds its locks: that objects are as they were, and that
// what it touches is in the scope of its token.
import { marksOf } from '../jobs/marks'
import { MARK } from '../model/marks'
import type { ConfigData } from '../model/config'
import { OpPrereqError, REFUSED } from '../model/errors'
import type { JobId, WireOpCode } from '../rpc/luxi/calls'
import type { Precondition, TokenScope } from '../rpc/luxi/gantry'
import type { Selector, Wconfd } from '../rpc/wconfd/calls'
import { Access } from './access'

/** Throws OpPrereqError; costs nothing for a job that came through another door. */
export async function checkAgain(op: WireOpCode, job: JobId, wconfd: Pick<Wconfd, 'gantryRead'>): Promise<void> {
  const match = marksOf(op, job, MARK.match).flatMap(parsePreconditions)
  const scopes = marksOf(op, job, MARK.scope).map(parseScope)
  if (match.length === 0 && scopes.length === 0) return
  const config = await wconfd.gantryRead(scopes.length > 0 ? EVERYTHING : selectorOf(match))
  checkPreconditions(config, match)
  const nobody = { user: '', token: '', permissions: ['*'] }
  for (const scope of scopes) new Access(nobody, { ...scope, permissions: ['*'] }).check(config, op)
}

/** A scope may hang on objects that the opcode does not name. */
const EVERYTHING: Selector = { instances: 'all', nodes: 'all', groups: 'all', networks: 'all' }

function selectorOf(match: readonly Precondition[]): Selector {
  const of = (wanted: Precondition['kind']): string[] =>
    match.filter(({ kind }) => kind === wanted).map(({ uuid }) => uuid)
  return { instances: of('instance'), nodes: of('node'), groups: of('group'), networks: of('network') }
}

/** Throws OpPrereqError naming the objects that are not as they must be. */
export function checkPreconditions(config: ConfigData, match: readonly Precondition[]): void {
  const complaints = match.flatMap((wanted) => {
    const found = serialOf(config, wanted)
    if (found === wanted.serial_no) return []
    const what = found === undefined ? 'is gone' : `has serial number ${found} now, not ${wanted.serial_no}`
    return [`${wanted.kind} ${wanted.uuid} ${what}`]
  })
  if (complaints.length > 0)
    throw new OpPrereqError(`The cluster has changed: ${complaints.join('; ')}`, REFUSED.changed)
}

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

/** Only the submission service writes these marks; what it cannot have written refuses the job. */
function parsePreconditions(text: string): Precondition[] {
  const value: unknown = JSON.parse(text)
  if (!Array.isArray(value)) throw new OpPrereqError('The preconditions of the job cannot be read', REFUSED.changed)
  return value as Precondition[]
}

const parseScope = (text: string): Pick<TokenScope, 'tags' | 'groups'> =>
  JSON.parse(text) as Pick<TokenScope, 'tags' | 'groups'>
