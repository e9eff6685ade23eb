// What a node does while the cluster counts it as offline: nothing may run here, because the master may run it
// elsewhere.
import type { Log } from '../lib/log'
import { errorText } from '../lib/system-failure'
import { CONFD_ROLE, CONFD_STATUS } from '../rpc/confd/protocol'
import type { CandidateReply } from '../rpc/confd/client'
import type { NodeContext } from './context'
import type { Ssconf } from './ssconf'

/**
 * All candidates except this node: an offline node gets no changes, so its own copy of the configuration is outdated.
 */
export function candidatesToAsk(ssconf: Pick<Ssconf, 'lines'>, hostname: string): string[] {
  const own = ssconf.lines('node_primary_ips').flatMap((line) => {
    const [name, ip] = line.split(' ')
    return name === hostname ? [ip] : []
  })
  return ssconf.lines('master_candidates_ips').filter((ip) => !own.includes(ip))
}

/** Whether most of the asked candidates say so, and none with an equally new configuration says otherwise. */
export function isSurelyOffline(
  requested: number,
  replies: readonly Pick<CandidateReply, 'status' | 'answer' | 'serial'>[],
): boolean {
  const saysSo = ({ status, answer }: Pick<CandidateReply, 'status' | 'answer'>) =>
    status === CONFD_STATUS.ok && answer === CONFD_ROLE.offline
  const offline = replies.filter(saysSo)
  const newest = Math.max(...offline.map(({ serial }) => serial))
  // A candidate that has missed a change may have missed that the node went offline.
  return offline.length > requested / 2 && !replies.some((reply) => !saysSo(reply) && reply.serial >= newest)
}

/** Ends all instances of this node at once, even if some fail. Resolves to the names of the ended ones. */
export async function endAllInstances({
  ssconf,
  hypervisor,
  log,
}: Pick<NodeContext, 'ssconf' | 'hypervisor'> & { readonly log: Log }): Promise<string[]> {
  const ended: string[] = []
  const attempt = (what: object, work: () => Promise<void>) =>
    work().catch((error: unknown) =>
      log.error(
        { ...what, failure: errorText(error) },
        'what must not run on this node cannot be ended; it is tried again',
      ),
    )
  for (const name of ssconf.lines('hypervisor_list'))
    await attempt({ hypervisor: name }, async () => {
      const backEnd = hypervisor(name)
      for (const instance of await backEnd.list())
        await attempt({ hypervisor: name, instance }, async () => {
          log.warn({ instance }, 'this node is offline, so the instance must not run here: it is ended')
          await backEnd.stop({ name: instance, hvparams: {} }, { force: true })
          ended.push(instance)
        })
    })
  return ended
}
