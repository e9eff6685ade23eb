// A separate program that joins this terminal to an instance's serial line. `node console-bridge.js SERIAL-SOCKET
// [QMP-SOCKET]`; ctrl-] ends it. With a QMP socket, an instance that was started paused is resumed once its console is
// watched.
import * as fs from 'node:fs'
import * as net from 'node:net'
import { systemClock } from '../../../lib/clock'
import { checkSocketPath } from '../../../lib/net/json-socket'
import { standardOutput } from '../../../lib/programs/standard-output'
import { hasClient } from './line-client'
import { withQmp } from './qmp'

const ESCAPE = 0x1d

/** This file, as a program for Node. */
export const bridgeProgram = __filename

export interface Streams {
  readonly input: NodeJS.ReadStream | NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
}

/** Resolves to exit code 0 when the user leaves or the instance ends. Rejects if there is no instance. */
export function bridge(serialSocket: string, terminal: Streams, onOpen: () => void = () => undefined): Promise<number> {
  checkSocketPath(serialSocket)
  const { input, output } = terminal
  const raw = (on: boolean) => ('isTTY' in input && input.isTTY ? void input.setRawMode(on) : undefined)
  return new Promise((resolve, reject) => {
    const socket = net.connect(serialSocket)
    const onInput = (data: Buffer) => {
      const escape = data.indexOf(ESCAPE)
      if (escape !== 0) socket.write(escape === -1 ? data : data.subarray(0, escape))
      if (escape !== -1) finish('leaving the console')
    }
    const finish = (notice: string) => {
      raw(false)
      input.removeListener('data', onInput)
      input.pause()
      socket.destroy()
      output.write(`\r\n[${notice}]\r\n`)
      resolve(0)
    }
    socket.once('connect', () => {
      raw(true)
      output.write('[connected; ctrl-] leaves]\r\n')
      socket.on('data', (data: Buffer) => output.write(data))
      input.on('data', onInput)
      // A script that sends commands and closes its input still wants the answers.
      socket.once('close', () => finish('the instance closed its console'))
      onOpen()
    })
    socket.once('error', (error) => {
      raw(false)
      reject(error)
    })
  })
}

/** QEMU talks to one client of a line at a time, and lets the next one wait silently. */
function tellOthers(serialSocket: string): void {
  try {
    if (hasClient(fs.readFileSync('/proc/net/unix', 'utf8'), serialSocket))
      process.stderr.write(
        '[somebody else has this console open, maybe in a browser; it is yours when they have left]\n',
      )
  } catch {
    // Only printed where somebody can see it.
  }
}

async function unpause(qmpSocket: string): Promise<void> {
  await withQmp(qmpSocket, systemClock, async (qmp) => {
    if ((await qmp.status()) === 'prelaunch') await qmp.run('cont')
  })
}

if (require.main === module) {
  standardOutput({ program: 'console' })
  const [serialSocket, qmpSocket] = process.argv.slice(2)
  if (serialSocket === undefined) {
    process.stderr.write('usage: console-bridge SERIAL-SOCKET [QMP-SOCKET]\n')
    process.exit(2)
  }
  const opened = () => {
    if (qmpSocket !== undefined)
      unpause(qmpSocket).catch((error: unknown) => process.stderr.write(`${String(error)}\r\n`))
  }
  tellOthers(serialSocket)
  bridge(serialSocket, { input: process.stdin, output: process.stdout }, opened).then(
    (code) => process.exit(code),
    (error: unknown) => {
      process.stderr.write(`The console cannot be reached: ${String(error)}\n`)
      process.exit(1)
    },
  )
}
