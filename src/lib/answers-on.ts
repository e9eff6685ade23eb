// Whether somebody is at home, before anything is said to him.
import * as net from 'node:net'

/** Whether something accepts connections there. */
export function answersOn(host: string, port: number, timeout_s: number, source?: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port, ...(source === undefined ? {} : { localAddress: source }) })
    const end = (ok: boolean) => {
      socket.destroy()
      resolve(ok)
    }
    socket.setTimeout(timeout_s * 1000, () => end(false))
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
  })
}
