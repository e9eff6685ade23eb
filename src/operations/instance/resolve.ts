// Name and address checks of a new instance, where they were asked for.
import type { Paths } from '../../lib/paths'
import { ECODE, OpPrereqError } from '../../model/errors'
import { answersTcp, resolveHost } from '../../lib/resolve'

const NODE_DAEMON_PORT = 1811
const PING_TIMEOUT_S = 10

/** The address that the name resolves to. In a virtual cluster, whose names no name server need know, there may be none. */
export async function resolveForCreation(paths: Paths, name: string, ipCheck: boolean): Promise<string | undefined> {
  const found = await resolveHost(name)
  if ('error' in found && paths.root !== '') return undefined
  if ('error' in found)
    throw new OpPrereqError(`The given name (${name}) does not resolve: ${found.error}`, ECODE.RESOLVER)
  if (ipCheck && (await answersTcp(found.ip, NODE_DAEMON_PORT, PING_TIMEOUT_S)))
    throw new OpPrereqError(`IP ${found.ip} of instance ${name} already in use`, ECODE.NOTUNIQUE)
  return found.ip
}
