// Questions to confd, one after the other and many at once. They are signed before, so that the figures are those of who answers.
import { createSocket, type Socket } from 'node:dgram'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { PORT } from '../../src/model/constants/daemons'
import { CONFD, packQuestion } from '../../src/rpc/confd/protocol'
import type { BenchCluster } from './cluster'
import { measured } from './measured'
import { memoryBelow } from './processes'
import type { Report } from './table'

const QUESTIONS = 50_000
const AT_ONCE = 32
const WARM = 5_000
const NODE = 'node1.gantry.local'

export async function measureConfd(cluster: BenchCluster, quick: boolean, report: Report): Promise<void> {
  const key = fs.readFileSync(path.join(cluster.root, NODE, 'var/lib/ganeti/hmac.key'), 'utf8')
  const address = cluster.rapi.host.replace(/\d+$/, '1')
  const memory = (when: string) => {
    const confd = memoryBelow(cluster.pid).find(({ name, node }) => name === 'confd' && node === NODE)
    report(`confd ${when}, RSS`, confd?.rss_kib ?? Number.NaN, 'KiB')
    report(`confd ${when}, PSS`, confd?.pss_kib ?? Number.NaN, 'KiB')
  }
  memory('before')
  const socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 })
  await new Promise<void>((resolve) => socket.connect(PORT.confd, address, resolve))
  const count = quick ? QUESTIONS / 10 : QUESTIONS
  await ask(socket, signed(key, WARM), 1)
  for (const atOnce of [1, AT_ONCE]) {
    const figure = await ask(socket, signed(key, count), atOnce)
    report(`confd, role of a node, ${atOnce} at once`, figure.perSecond, '/s', figure)
  }
  socket.close()
  memory('after that')
}

const signed = (key: string, count: number): Buffer[] =>
  Array.from({ length: count }, (_, n) =>
    Buffer.from(packQuestion(key, CONFD.nodeRole, NODE, Date.now() / 1000, `${process.pid}-${n}-${Math.random()}`)),
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
  for (let seen = -1; times_ms.length < questions.length; seen = times_ms.length) {
    await setTimeout(200)
    if (seen !== times_ms.length) continue
    begun.splice(0)
    if (sent === questions.length) break
    for (let n = 0; n < atOnce; n++) send()
  }
  socket.removeAllListeners('message')
  return measured(times_ms, end_ms - begin_ms)
}
