// Our client of confd believes the newest signed answer of several.
import { type Socket, createSocket } from 'node:dgram'
import { type Clock, systemClock } from '../../../../src/lib/clock'
import { seededRandom } from '../../../../src/lib/random'
import { ConfdClient } from '../../../../src/rpc/confd/client'
import { SilentServers } from '../../../../src/rpc/confd/silent'
import {
  CONFD_AGAIN_S,
  CONFD_ANSWER_S,
  CONFD_ASKED_MAX,
  CONFD_OTHERS_S,
  CONFD_SILENT_S,
} from '../../../../src/model/limits/confd'
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

const right = (salt: string) => pack(KEY, '{"protocol":1,"status":0,"answer":["right"],"serial":9}', salt)
const stale = (salt: string) => pack(KEY, '{"protocol":1,"status":0,"answer":["stale"],"serial":3}', salt)
const forged = (salt: string) => pack('other key', '{"status":0,"answer":"forged","serial":99}', salt)

test('the newest configuration is believed, whoever answers first, and who says otherwise is named', async () => {
  // The newer one answers when the other has been heard, or as good as.
  const first = await serve(stale)
  const second = await serve((salt) => systemClock.sleep(20).then(() => right(salt)), first)
  const reported: string[] = []
  try {
    const client = clientOf(['127.0.0.1', '127.0.0.2'], first, reported)
    expect(await client.ask(CONFD.nodeDrbd, 'node1')).toEqual(['right'])
    expect(reported).toEqual([
      'master candidates disagree: 127.0.0.2 (serial 9) is believed, and 127.0.0.1 (serial 3) says something else',
    ])
  } finally {
    first.close()
    second.close()
  }
})

test('when most have answered the others get a moment, and nobody believes a forger', async () => {
  const servers = [await serve(forged)]
  servers.push(await serve(stale, servers[0], '127.0.0.2'), await serve(right, servers[0], '127.0.0.3'))
  const waits: number[] = []
  const clock: Clock = {
    ...systemClock,
    after: (delay_ms, action) => {
      waits.push(delay_ms)
      return systemClock.after(delay_ms === CONFD_AGAIN_S * 1000 ? 60_000 : 0, action)
    },
  }
  try {
    const client = clientOf(['127.0.0.1', '127.0.0.2', '127.0.0.3'], servers[0], [], clock)
    expect(await client.askAll(CONFD.nodeDrbd, 'node1')).toEqual([
      { status: 0, answer: ['right'], serial: 9, server: '127.0.0.3' },
      { status: 0, answer: ['stale'], serial: 3, server: '127.0.0.2' },
    ])
    expect(waits).toEqual([CONFD_AGAIN_S * 1000, CONFD_OTHERS_S * 1000])
  } finally {
    for (const server of servers) server.close()
  }
})

test('some of many candidates are asked, each once', async () => {
  const requested: string[] = []
  const first = await serve((salt) => {
    requested.push('127.0.0.1')
    return right(salt)
  })
  const many = Array.from({ length: CONFD_ASKED_MAX + 3 }, (_, n) => `127.0.0.${n + 1}`)
  const others = await Promise.all(
    many.slice(1).map((address) =>
      serve(
        (salt) => {
          requested.push(address)
          return right(salt)
        },
        first,
        address,
      ),
    ),
  )
  try {
    expect(await clientOf([...many, ...many], first).ask(CONFD.ping, null)).toEqual(['right'])
    expect(new Set(requested).size).toBe(CONFD_ASKED_MAX)
    expect(requested).toHaveLength(CONFD_ASKED_MAX)
  } finally {
    for (const server of [first, ...others]) server.close()
  }
})

test('an error of confd is told, and silence ends after a time', async () => {
  const server = await serve((salt) =>
    pack(KEY, '{"protocol":1,"status":1,"answer":"Node name x not found","serial":0}', salt),
  )
  try {
    await expect(clientOf(['127.0.0.1'], server).ask(CONFD.nodeDrbd, 'x')).rejects.toThrow('Node name x not found')
    const { clock, waits } = hasty()
    const client = clientOf(['127.0.0.3'], server, [], clock)
    await expect(client.ask(CONFD.nodeDrbd, 'x')).rejects.toThrow('No answer from the Confd server')
    expect(waits).toEqual(Array(CONFD_ANSWER_S).fill(CONFD_AGAIN_S))
    await expect(clientOf([], server).ask(CONFD.nodeDrbd, 'x')).rejects.toThrow('No master candidate is known')
  } finally {
    server.close()
  }
})

test('a question that nobody has heard is asked again', async () => {
  let requested = 0
  const server = await serve((salt) => (++requested === 3 ? right(salt) : 'lost'))
  try {
    const { clock, waits } = hasty()
    expect(await clientOf(['127.0.0.1'], server, [], clock).ask(CONFD.ping, null)).toEqual(['right'])
    expect(waits.length).toBeGreaterThanOrEqual(3)
  } finally {
    server.close()
  }
})

test('where most are down the answer of one is enough, and later questions do not wait for those', async () => {
  const server = await serve(right)
  const { clock, waits } = hasty()
  const silent = new SilentServers(clock)
  const candidates = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4']
  try {
    expect(await clientOf(candidates, server, [], clock, silent).ask(CONFD.ping, null)).toEqual(['right'])
    expect(candidates.filter((one) => silent.has(one))).toEqual(candidates.slice(1))
    waits.splice(0)
    const patient: Clock = { ...clock, after: (delay_ms) => clock.after(delay_ms, () => undefined) }
    expect(await clientOf(candidates, server, [], patient, silent).ask(CONFD.ping, null)).toEqual(['right'])
    expect(waits).toEqual([CONFD_AGAIN_S])
  } finally {
    server.close()
  }
})

test('one that was silent is waited for again when it answers, or after a time', () => {
  const { clock, pass } = hasty()
  const silent = new SilentServers(clock)
  const all = ['a', 'b', 'c']
  const silentOnes = (...answered: string[]) => {
    silent.note(all, new Map(answered.map((server) => [server, 1])))
    return all.filter((server) => silent.has(server))
  }
  expect(silentOnes('a')).toEqual(['b', 'c'])
  pass(CONFD_SILENT_S / 2)
  expect(silentOnes('a', 'b')).toEqual(['c'])
  // Where nobody answers, it is not they who are silent.
  expect(silentOnes()).toEqual(['c'])
  pass(CONFD_SILENT_S / 2)
  expect(silentOnes()).toEqual([])
})

/** A clock whose timers ring as soon as what is under way has been heard; `waits` are the seconds that were to be waited. */
function hasty() {
  const waits: number[] = []
  let away_ms = 0
  const pass = (time_s: number) => void (away_ms += time_s * 1000)
  const clock: Clock = {
    ...systemClock,
    monotonic_ms: () => away_ms,
    after(delay_ms, action) {
      waits.push(delay_ms / 1000)
      return systemClock.after(20, () => {
        pass(delay_ms / 1000)
        action()
      })
    },
  }
  return { clock, waits, pass }
}

/** Answers what it is asked, with the salt that the question wants; on the port of another server, at another address. */
async function serve(
  answer: (salt: string) => string | Promise<string>,
  beside?: Socket,
  address = '127.0.0.2',
): Promise<Socket> {
  const server = createSocket('udp4')
  server.on('message', (bytes, from) => {
    const { msg } = JSON.parse(bytes.toString('utf8').slice(4)) as { msg: string }
    const { rsalt } = JSON.parse(msg) as { rsalt: string }
    void Promise.resolve(answer(rsalt)).then((text) => server.send(text, from.port, from.address))
  })
  await new Promise<void>((resolve) =>
    beside === undefined ? server.bind(0, '127.0.0.1', resolve) : server.bind(portOf(beside), address, resolve),
  )
  return server
}

const portOf = (socket: Socket | undefined): number => socket?.address().port ?? 0

const clientOf = (
  servers: readonly string[],
  on: Socket | undefined,
  reported: string[] = [],
  clock = systemClock,
  silent = new SilentServers(clock),
) =>
  new ConfdClient({
    ...{ key: KEY, servers, port: portOf(on), clock, random: seededRandom(7), silent },
    warn: (text) => void reported.push(text),
  })
