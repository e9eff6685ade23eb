// Questions to confd, one after the other and many at once. They are signed before, so that the figures are those of who answers.
import { createSocket, type Socket } from 'node:dgram'
import * as fs from 'node:fs'
import { performance } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { PORT } from '../../src/model/constants/daemons'
import { CONFD, packQuestion } from '../../src/rpc/confd/protocol'
import { measured } from './measured'
import { type AskedNode, reportMemoryOf } from './processes'
import type { Report } from './table'

const QUESTIONS = 50_000
const AT_ONCE = 32
const WARM = 5_000

export async function measureConfd(node: AskedNode, quick: boolean, report: Report): Promise<void> {
  const key = fs.readFileSync(node.keyFile, 'utf8')
  reportMemoryOf('confd', node, 'before', report)
  const socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 })
  await new Promise<void>((resolve) => socket.connect(PORT.confd, node.address, resolve))
  const count = quick ? QUESTIONS / 10 : QUESTIONS
  await ask(socket, signed(key, node, WARM), 1)
  for (const atOnce of [1, AT_ONCE]) {
    const figure = await ask(socket, signed(key, node, count), atOnce)
    report(`confd, role of a node, ${atOnce} at once`, figure.perSecond, '/s', figure)
  }
  socket.close()
  reportMemoryOf('confd', node, 'after that', report)
}

const signed = (key: string, { name }: AskedNode, count: number): Buffer[] =>
  Array.from({ length: count }, (_, n) =>
    Buffer.from(packQuestion(key, CONFD.nodeRole, name, Date.now() / 1000, `${process.pid}-${n}-${Math.random()}`)),
  )

/** Each answer brings the next question; one that is lost is noticed after a while. */
async function ask(socket: Socket, questions: readonly Buffer[], atOnce: number) {
  const times_ms: number[] = []
  const begun: number[] = []
  let sent = 0
  const send = () => {
    const question = questions[sent]
    if (question === undefined) return
    sent++
    begun.push(performance.now())
    socket.send(question)
  }
  const begin_ms = performance.now()
  let end_ms = begin_ms
  socket.on('message', () => {
    end_ms = performance.now()
    times_ms.push(end_ms - (begun.shift() ?? end_ms))
    send()
  })
  for (let n = 0; n < atOnce; n++) send()
  for (let observed = -1; times_ms.length < questions.length; observed = times_ms.length) {
    await setTimeout(200)
    if (observed !== times_ms.length) continue
    begun.splice(0)
    if (sent === questions.length) break
    for (let n = 0; n < atOnce; n++) send()
  }
  socket.removeAllListeners('message')
  return measured(times_ms, end_ms - begin_ms)
}
