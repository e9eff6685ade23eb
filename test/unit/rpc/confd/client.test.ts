import { type Socket, createSocket } from 'node:dgram'
import { type Clock, systemClock } from '../../../../src/lib/clock'
import { seededRandom } from '../../../../src/lib/random'
import { ConfdClient } from '../../../../src/rpc/confd/client'
import { CONFD, pack, packQuestion, unpackReply } from '../../../../src/rpc/confd/protocol'

const KEY = 'a key with its line end\n'

test('a recorded answer of Ganeti is understood, and none that was changed', () => {
  // Signed as a real confd signs: the salt of the question, then the message.
  const message = '{"protocol":1,"status":0,"answer":[],"serial":3}'
  const reply = pack(KEY, message, 'some-salt')
  expect(unpackReply(KEY, reply, 'some-salt')).toEqual({ status: 0, answer: [], serial: 3 })
  expect(unpackReply(KEY, reply, 'other-salt')).toBeUndefined()
  expect(unpackReply('other key', reply, 'some-salt')).toBeUndefined()
  expect(unpackReply(KEY, reply.replace('serial\\":3', 'serial\\":4'), 'some-salt')).toBeUndefined()
  for (const text of ['', 'plj0', 'plj0null', 'plj0{}', `xxxx${reply.slice(4)}`, pack(KEY, 'no json', 'some-salt')]) {
    expect(unpackReply(KEY, text, 'some-salt')).toBeUndefined()
  }
})

test('a question carries its time as salt, and the salt of the answer inside', () => {
  const envelope = JSON.parse(packQuestion(KEY, CONFD.nodeDrbd, 'node1', 1795232504.9, 'answer-salt').slice(4)) as {
    msg: string
    salt: string
  }
  expect(envelope.salt).toBe('1795232504')
  expect(JSON.parse(envelope.msg)).toEqual({ protocol: 1, type: 7, query: 'node1', rsalt: 'answer-salt' })
})

test('the first candidate that answers is believed, whatever the others send', async () => {
  const forger = await serve((salt) => pack('other key', '{"status":0,"answer":"forged","serial":9}', salt))
  const honest = await serve(
    (salt) => pack(KEY, '{"protocol":1,"status":0,"answer":["right"],"serial":3}', salt),
    forger,
  )
  try {
    const client = clientOf(['127.0.0.1', '127.0.0.2'], forger)
    expect(await client.ask(CONFD.nodeDrbd, 'node1')).toEqual(['right'])
  } finally {
    forger.close()
    honest.close()
  }
})

test('an error of confd is told, and silence ends after a time', async () => {
  const server = await serve((salt) =>
    pack(KEY, '{"protocol":1,"status":1,"answer":"Node name x not found","serial":0}', salt),
  )
  try {
    await expect(clientOf(['127.0.0.1'], server).ask(CONFD.nodeDrbd, 'x')).rejects.toThrow('Node name x not found')
    const hasty: Clock = { ...systemClock, after: (_, action) => systemClock.after(0, action) }
    const client = clientOf(['127.0.0.3'], server, hasty)
    await expect(client.ask(CONFD.nodeDrbd, 'x')).rejects.toThrow('No answer from the Confd server')
    await expect(clientOf([], server).ask(CONFD.nodeDrbd, 'x')).rejects.toThrow('No master candidate is known')
  } finally {
    server.close()
  }
})

/** Answers what it is asked, with the salt that the question wants; on the port of another server, at the next address. */
async function serve(answer: (salt: string) => string, beside?: Socket): Promise<Socket> {
  const server = createSocket('udp4')
  server.on('message', (bytes, from) => {
    const { msg } = JSON.parse(bytes.toString('utf8').slice(4)) as { msg: string }
    const { rsalt } = JSON.parse(msg) as { rsalt: string }
    server.send(answer(rsalt), from.port, from.address)
  })
  await new Promise<void>((resolve) =>
    beside === undefined ? server.bind(0, '127.0.0.1', resolve) : server.bind(portOf(beside), '127.0.0.2', resolve),
  )
  return server
}

const portOf = (socket: Socket): number => socket.address().port

const clientOf = (servers: readonly string[], on: Socket, clock = systemClock): ConfdClient =>
  new ConfdClient({ key: KEY, servers, port: portOf(on), clock, random: seededRandom(7) })
