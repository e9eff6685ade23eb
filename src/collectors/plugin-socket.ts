// Reads everything that a socket of this machine sends until it closes.
import * as net from 'node:net'
import type { Clock } from '../lib/clock'
import { errorText } from '../lib/system-failure'
import { PLUGIN_BYTES_MAX, PLUGIN_S } from '../model/limits/collectors'
import { CollectorFailure } from './report'

export type Address = { readonly path: string } | { readonly host: string; readonly port: number }

export function readSocket(address: Address, clock: Clock): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(address)
    const pieces: Buffer[] = []
    let bytes = 0
    const fail = (why: string) => {
      end()
      reject(new CollectorFailure(why))
    }
    const timer = clock.after(PLUGIN_S * 1000, () => fail(`it did not end within ${PLUGIN_S} s`))
    const end = () => {
      timer.cancel()
      socket.destroy()
    }
    socket.on('error', (error) => fail(`it cannot be asked: ${errorText(error)}`))
    socket.on('data', (piece: Buffer) => {
      bytes += piece.length
      if (bytes > PLUGIN_BYTES_MAX) return fail(`it said more than ${PLUGIN_BYTES_MAX} bytes`)
      pieces.push(piece)
    })
    socket.on('end', () => {
      end()
      resolve(Buffer.concat(pieces).toString('utf8'))
    })
  })
}
