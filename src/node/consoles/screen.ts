// A viewer's own connection to an instance's screen. The slower end holds up the other.
import { once } from 'node:events'
import * as net from 'node:net'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { ByteReader } from '../../lib/net/byte-reader'
import { type Clock, within } from '../../lib/clock'
import { written } from '../../lib/work/written'
import { SCREEN_HANDSHAKE_S } from '../../model/limits/consoles'
import { type ConsolePlace, HypervisorFailure } from '../hypervisor/hypervisor'
import type { ConsoleLine } from './console-line'
import { lookingOnly } from './looking-only'
import { enterScreen, type Screen, SHARED, welcomeViewer } from './rfb'
import type { SerialViewer } from './serial-lines'

type ScreenPlace = Extract<ConsolePlace, { kind: 'vnc' }>

interface ScreenViewer extends SerialViewer {
  readonly read_only: boolean
  readonly clock: Clock
  begun(): void
}

/** Resolves when this node has logged in at the screen; the viewer's handshake follows. */
export async function openScreen({ at, login }: ScreenPlace, viewer: ScreenViewer): Promise<ConsoleLine> {
  const socket = net.connect(at)
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.on('error', () => undefined)
  try {
    const connected = new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    const entered = connected.then(() => enterScreen(socket, login))
    const screen = await within(viewer.clock, SCREEN_HANDSHAKE_S, entered)
    if (screen === undefined) throw new HypervisorFailure(`the screen did not answer within ${SCREEN_HANDSHAKE_S} s`)
    viewer.begun()
    const typed = new PassThrough()
    void talk(screen, typed, viewer)
      .catch(() => undefined)
      .finally(() => {
        socket.destroy()
        typed.destroy()
      })
    return { type: (said) => written(typed, said), ended: closed, close: () => socket.destroy() }
  } catch (error) {
    socket.destroy()
    throw error
  }
}

async function talk({ line, said }: Screen, typed: Readable, viewer: ScreenViewer): Promise<void> {
  const received = new ByteReader(typed)
  await welcomeViewer(received, (bytes) => viewer.show(bytes))
  await written(line, SHARED)
  const ended = once(line, 'close')
  await Promise.race([
    ended,
    showAll(said, viewer),
    sayAll(viewer.read_only ? lookingOnly(received) : received.rest(), line),
  ])
}

async function showAll(said: ByteReader, viewer: ScreenViewer): Promise<void> {
  for await (const bytes of said.rest())
    if (!viewer.show(bytes)) await new Promise<void>((resolve) => viewer.onRoom(resolve))
}

async function sayAll(words: AsyncIterable<Buffer>, line: Writable): Promise<void> {
  for await (const word of words) await written(line, word)
}
