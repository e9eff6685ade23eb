// What a node does about itself while the cluster counts it as offline: nothing may run here, because the master may have it run elsewhere.
import type { Log } from '../lib/log'
import { errorText } from '../lib/system-failure'
import { CONFD_ROLE, CONFD_STATUS } from '../rpc/confd/protocol'
import type { CandidateReply } from '../rpc/confd/client'
import type { NodeContext } from './context'

/** Whether most candidates that were asked say so, and none says something else. */
export function isSurelyOffline(asked: number, replies: readonly Pick<CandidateReply, 'status' | 'answer'>[]): boolean {
  const offline = replies.filter(({ status, answer }) => status === CONFD_STATUS.ok && answer === CONFD_ROLE.offline)
  return offline.length === replies.length && replies.length > asked / 2
}

/** Ends all instances of this node, at once. Resolves to their names. */
export async function endAllInstances({
  ssconf,
  hypervisor,
  log,
}: Pick<NodeContext, 'ssconf' | 'hypervisor'> & { readonly log: Log }): Promise<string[]> {
  const ended: string[] = []
  for (const name of ssconf.lines('hypervisor_list'))
    try {
      const backEnd = hypervisor(name)
      for (const instance of await backEnd.list()) {
        log.warn({ instance }, 'this node is offline, so the instance must not run here: it is ended')
        await backEnd.stop({ name: instance, hvparams: {} }, { force: true })
        ended.push(instance)
      }
    } catch (error) {
      log.error({ hypervisor: name, failure: errorText(error) }, 'the instances of a hypervisor cannot be ended')
    }
  return ended
}
