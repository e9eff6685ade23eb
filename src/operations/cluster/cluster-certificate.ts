// A new certificate for the cluster while all daemons run. Nodes first trust it beside the present one, then show it.
// When it has signed all client certificates, they forget the former one. A step begins when all nodes have finished
// the previous one, the master last. So any two nodes can always talk, and after a crash the master's own file tells
// the next step.
import { readServerPem, type ServerPem, writeServerPem } from '../../lib/server-pem'
import { createCertificate } from '../../lib/tls'
import type { Node } from '../../model/config'
import { GROUP, MODE, USER } from '../../model/constants/daemons'
import { PATH } from '../../model/constants/paths'
import { CERTIFICATE_STEP_S } from '../../model/limits/master'
import { OpExecError } from '../../model/errors'
import type { UnitContext } from '../unit-context'

/** Afterwards all nodes show the new certificate, and still trust the former one. The master is last in `online`. */
export async function showNewCertificate(ctx: UnitContext, online: readonly Node[]): Promise<ServerPem> {
  const present = await presentPem(ctx)
  const begun = present.next !== undefined || present.trusted.length > 0
  if (begun) ctx.log.say('A renewal of the cluster certificate that was interrupted goes on')
  if (begun && present.next === undefined) {
    await install(ctx, online, 'show', present)
    return present
  }
  const next = present.next ?? readServerPem(await newCertificate(ctx)).shown
  await install(ctx, online, 'trust', { ...present, next })
  const displayed = { shown: next, next: undefined, trusted: [present.shown.certificate, ...present.trusted] }
  await install(ctx, online, 'show', displayed)
  return displayed
}

/** Only after the new certificate has signed all client certificates. */
export async function forgetFormerCertificates(
  ctx: UnitContext,
  online: readonly Node[],
  pem: ServerPem,
): Promise<void> {
  await ctx.env.clock.sleep(CERTIFICATE_STEP_S * 1000)
  await install(ctx, online, 'trust no other than', { ...pem, trusted: [] })
}

/** Each certificate has a new subject, which names the signer of a client certificate. */
const newCertificate = ({ env: { clock, random } }: UnitContext): Promise<string> =>
  createCertificate({ unit: random.hex(8), clock, random })

async function presentPem({ env }: UnitContext): Promise<ServerPem> {
  const pem = await env.masterFile?.(PATH.NODED_CERT_FILE)
  if (pem === undefined) throw new OpExecError(`The master has no ${PATH.NODED_CERT_FILE}`)
  try {
    return readServerPem(pem)
  } catch (error) {
    throw new OpExecError(`${PATH.NODED_CERT_FILE} cannot be used: ${error instanceof Error ? error.message : ''}`)
  }
}

/** Waits, so that callers with the certificates of before the step still get their connection. */
async function install(ctx: UnitContext, nodes: readonly Node[], step: string, pem: ServerPem): Promise<void> {
  ctx.log.say(`Nodes begin to ${step} the new cluster certificate`)
  const file = {
    ...{ path: ctx.env.paths.local(PATH.NODED_CERT_FILE), content: writeServerPem(pem), atime: null, mtime: null },
    ...{ owner: USER.noded, group: GROUP.noded, mode: MODE.secureFile },
  }
  for (const targets of [nodes.slice(0, -1), nodes.slice(-1)]) {
    const answers = await ctx.nodes.many(targets, 'upload_file', [file])
    const failures = targets.flatMap(({ uuid, name }) => {
      const answer = answers.get(uuid)
      return answer?.ok === true ? [] : [`${name}: ${answer?.error ?? 'no answer'}`]
    })
    if (failures.length > 0)
      throw new OpExecError(
        `Not all nodes ${step} the new cluster certificate: ${failures.join('; ')}. The cluster works on with both; make these nodes ` +
          `reachable or set them offline, and repeat 'gnt-cluster renew-crypto --new-cluster-certificate' to go on`,
      )
  }
  await ctx.env.clock.sleep(CERTIFICATE_STEP_S * 1000)
}
