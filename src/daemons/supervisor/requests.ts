// noded's requests to its parent, the node's supervisor, about daemons: messages over the channel between the two
// processes.
import type { DaemonControl } from '../../node/context'

export type DaemonRequest = { id: number } & (
  | { action: 'start-master'; noVoting: boolean }
  | { action: 'stop-master' }
  | { action: 'yield-master' }
  | { action: 'ensure'; daemon: string; run: boolean }
  | { action: 'settle' }
  | { action: 'leave' }
  | { action: 'watch'; why: string }
)

type Wish = DaemonRequest extends infer R ? (R extends DaemonRequest ? Omit<R, 'id'> : never) : never

const ACTIONS = ['start-master', 'stop-master', 'yield-master', 'ensure', 'settle', 'leave', 'watch']

export const isDaemonRequest = (message: unknown): message is DaemonRequest =>
  typeof message === 'object' &&
  message !== null &&
  'id' in message &&
  'action' in message &&
  ACTIONS.some((action) => action === message.action)

/** noded's end. Without a supervisor, the system's service manager handles daemons. */
export function supervisedDaemons(channel: NodeJS.Process): DaemonControl {
  let last = 0
  const waiting = new Map<number, { resolve(result: boolean): void; reject(error: Error): void }>()
  channel.on('message', (message: unknown) => {
    if (typeof message !== 'object' || message === null || !('answerTo' in message)) return
    const requested = waiting.get(Number(message.answerTo))
    waiting.delete(Number(message.answerTo))
    if ('error' in message) requested?.reject(new Error(String(message.error)))
    else requested?.resolve('result' in message && message.result === true)
  })
  const ask = (wish: Wish): Promise<boolean> => {
    if (channel.send === undefined || !channel.connected)
      return Promise.reject(new Error('noded was not started by `gantryd node`, which starts and stops daemons'))
    const id = ++last
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject })
      channel.send?.({ ...wish, id })
    })
  }
  return {
    startMaster: async (noVoting) => void (await ask({ action: 'start-master', noVoting })),
    stopMaster: async () => void (await ask({ action: 'stop-master' })),
    yieldMaster: () => ask({ action: 'yield-master' }),
    ensure: (daemon, run) => ask({ action: 'ensure', daemon, run }),
    // Without a supervisor, the system's service manager handles this.
    settle: async () => void (channel.connected && (await ask({ action: 'settle' }))),
    leave: () => void ask({ action: 'leave' }).catch(() => process.exit(0)),
  }
}
