// Resolves name and address of a new or renamed instance.
import { answersTcp } from '../../../lib/net/resolve'
import { ECODE, OpPrereqError } from '../../../model/errors'
import { normalHostname } from '../../../model/names'
import { saneHost } from '../../host-names'
import type { UnitContext } from '../../unit-context'
import { INSTANCE_IP_PING_S } from '../../../model/limits/operations'

const NODE_DAEMON_PORT = 1811

/** The full name, if the name must be checked. */
export async function newName(ctx: UnitContext, input: string, nameCheck: boolean): Promise<string> {
  return nameCheck ? (await saneHost(ctx, input)).name : normalHostname(input)
}

/** Resolves and checks a name. With `ipCheck`, no host may use its address yet. */
export async function newAddress(ctx: UnitContext, input: string, ipCheck: boolean): Promise<string | undefined> {
  const { name, ip } = await saneHost(ctx, input)
  if (ipCheck && ip !== undefined && (await answersTcp(ip, NODE_DAEMON_PORT, INSTANCE_IP_PING_S)))
    throw new OpPrereqError(`IP ${ip} of instance ${name} already in use`, ECODE.NOTUNIQUE)
  return ip
}
