// One console that somebody has open, with nodes that are streams in memory.
import { type Duplex, duplexPair } from 'node:stream'
import { recordFrom, recordValues } from '../../../../src/config/records'
import type { ConfigData, Instance, Node, NodeUuid } from '../../../../src/model/config'
import type { Identity, TokenScope } from '../../../../src/rpc/luxi/gantry'
import type { NodeConsoleRequest } from '../../../../src/rpc/node/consoles'
import { Access } from '../../../../src/services/access/access'
import { ConsoleSession } from '../../../../src/services/consoles/console-session'
import { goldenConfig } from '../../../support/golden-query'
import { settled, SteppedClock } from '../../../support/stepped-clock'

const golden = goldenConfig()
const [someNode] = recordValues(golden.nodes) as [Node]
const [someInstance] = recordValues(golden.instances) as [Instance]
const identity: Identity = { user: 'anna', token: null, permissions: ['*'] }
const nodeNamed = (name: string): Node => ({ ...someNode, uuid: `uuid-${name}` as NodeUuid, name, offline: false })
const vm1 = { ...someInstance, name: 'vm1', tags: ['shop'], primary_node: 'uuid-node1' as NodeUuid }

interface Line {
  readonly node: string
  readonly request: NodeConsoleRequest
  readonly line: Duplex
  /** The node's end. */
  readonly end: Duplex
  /** What came to the node. */
  readonly heard: unknown[]
}

function opened({ refuses = false, offline = false } = {}) {
  const clock = new SteppedClock()
  const nodes = [{ ...nodeNamed('node1'), offline }, nodeNamed('node2')]
  const here = {
    scope: null as TokenScope | null,
    refuses,
    config: {
      ...golden,
      nodes: recordFrom(nodes.map((node) => [node.uuid, node])),
      instances: recordFrom([[vm1.uuid, vm1]]),
    } as ConfigData,
  }
  const lines: Line[] = []
  const [viewer, browser] = duplexPair({ objectMode: true })
  const reported: unknown[] = []
  browser.on('data', (message: unknown) => reported.push(typeof message === 'string' ? JSON.parse(message) : message))
  let attempts = 0
  const session = new ConsoleSession(
    {
      ...{ request: { instance: 'vm1', kind: 'serial', read_only: false }, identity, uuid: vm1.uuid, clock },
      config: () => here.config,
      access: (who) => new Access(who, here.scope),
      openNode(node, request) {
        attempts++
        if (here.refuses) return Promise.reject(new Error('nobody listens there'))
        const [line, end] = duplexPair({ objectMode: true })
        const received: unknown[] = []
        end.on('data', (message: unknown) => received.push(message))
        lines.push({ node: node.name, request, line, end, heard: received })
        return Promise.resolve(line)
      },
    },
    viewer,
  )
  const running = session.run()
  /** The instance is changed, and whoever follows the configuration hears of it. */
  const change = async (more: Partial<Instance>): Promise<void> => {
    here.config = { ...here.config, instances: recordFrom([[vm1.uuid, { ...vm1, ...more }]]) }
    session.look()
    await settled()
  }
  const connect = async (at: number, number: number): Promise<void> => {
    lines[at]?.end.write(JSON.stringify({ state: 'connected', number }))
    await settled()
  }
  return { clock, here, lines, told: reported, browser, session, running, change, connect, attempts: () => attempts }
}

test('a viewer sees what the node says, and is heard when it has seen the present line', async () => {
  const { lines, told: reported, browser, connect, running } = opened()
  await settled()
  await connect(0, 1)
  browser.write(Buffer.from('too early'))
  browser.write('1.1')
  browser.write(Buffer.from('ls'))
  lines[0]?.end.write(Buffer.from('hello'))
  await settled()
  expect(reported).toEqual([{ type: 'connected', stream: '1.1', node: 'node1' }, Buffer.from('hello')])
  expect(lines[0]?.heard).toEqual(['1', Buffer.from('ls')])
  browser.end()
  await running
})

test('it follows the instance to another node, where what was typed for the line before is not heard', async () => {
  const { lines, told: reported, browser, change, connect, running } = opened()
  await settled()
  await connect(0, 1)
  browser.write('1.1')
  await change({ primary_node: 'uuid-node2' as NodeUuid })
  expect(lines.map(({ node, request }) => [node, request.recent])).toEqual([
    ['node1', true],
    ['node2', false],
  ])
  expect(lines.map(({ line }) => line.destroyed)).toEqual([true, false])
  browser.write(Buffer.from('late'))
  await connect(1, 1)
  expect(reported.at(-1)).toEqual({ type: 'connected', stream: '2.1', node: 'node2' })
  browser.write('2.1')
  browser.write(Buffer.from('now'))
  await settled()
  expect(lines[1]?.heard).toEqual(['1', Buffer.from('now')])
  browser.end()
  await running
})

test('a console ends when the scope of its token no longer holds the instance', async () => {
  const { here, told: reported, connect, session, lines, running } = opened()
  here.scope = { permissions: ['*'], tags: ['shop'], groups: [] }
  await settled()
  await connect(0, 1)
  here.scope = { permissions: ['*'], tags: ['other'], groups: [] }
  session.look()
  await running
  expect(reported.at(-1)).toEqual({ type: 'end', text: expect.stringMatching(/scope/) })
  expect(lines).toHaveLength(1)
})

test('a console ends when the permission is withdrawn, or the instance is removed', async () => {
  for (const [withdraw, why] of [
    [(here) => (here.scope = { permissions: ['nodes.query'], tags: [], groups: [] }), /needs the permission/],
    [(here) => (here.config = { ...here.config, instances: recordFrom([]) }), /The instance vm1 was removed/],
  ] as const satisfies readonly (readonly [(here: ReturnType<typeof opened>['here']) => unknown, RegExp])[]) {
    const { here, told: reported, connect, session, running } = opened()
    await settled()
    await connect(0, 1)
    withdraw(here)
    session.look()
    await running
    expect(reported.at(-1)).toEqual({ type: 'end', text: expect.stringMatching(why) })
  }
})

test('a node that cannot be reached is told once, and tried again until it can', async () => {
  const { clock, here, told: reported, browser, connect, running, attempts } = opened({ refuses: true })
  await settled()
  await clock.pass(60)
  expect(attempts()).toBeGreaterThan(3)
  expect(reported).toEqual([{ type: 'waiting', why: 'unreachable', node: 'node1', text: 'nobody listens there' }])
  here.refuses = false
  await clock.pass(60)
  await connect(0, 1)
  expect(reported.at(-1)).toMatchObject({ type: 'connected', node: 'node1' })
  browser.end()
  await running
})

test('a node that is marked offline is not asked', async () => {
  const { told: reported, browser, running, attempts } = opened({ offline: true })
  await settled()
  expect(reported).toEqual([{ type: 'waiting', why: 'unreachable', node: 'node1', text: 'node1 is marked offline' }])
  expect(attempts()).toBe(0)
  browser.end()
  await running
})
