// OP_TEST_DELAY: sleeps on the master and on nodes, with or without their locks. Tests of the queue and of locks use it.
import { OpPrereqError } from '../../model/errors'
import { OpTestDelay } from '../../opcodes/test'
import { wantedNodes } from '../find'
import { exclusive, logicalUnit } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { meetingPoint } from './meeting-point'

export const testDelay = logicalUnit(OpTestDelay, {
  repeatable: true,
  async locks(op, ctx) {
    if (op.duration <= 0) throw new OpPrereqError('Duration must be greater than zero')
    const nodes = await wantedNodes(ctx, op.on_nodes)
    const { cluster } = await ctx.config.read({})
    const input = nodes.map(({ uuid }) => uuid)
    const uuids = [...new Set([...input, ...(op.on_master ? [cluster.master_node] : [])])]
    ctx.note({ ...(nodes.length > 0 && { on_nodes: nodes.map((node) => node.name) }), on_node_uuids: uuids })
    return op.no_locks ? {} : { node: exclusive(uuids) }
  },
  check: (ctx, op) => wantedNodes(ctx, op.on_nodes),
  async run(ctx, op, nodes) {
    const rounds = Math.max(1, op.repeat)
    for (let round = 0; round < rounds; round++) {
      if (op.repeat > 0) ctx.log.info(`Test delay iteration ${round}/${rounds - 1}`)
      if (op.interruptible) {
        if (await interrupted(ctx, op.duration)) break
        continue
      }
      if (op.on_master) await ctx.env.clock.sleep(op.duration * 1000)
      const results = await ctx.nodes.many(nodes, 'test_delay', [op.duration])
      for (const node of nodes) ctx.nodes.raise(results, node, `Failure during rpc call to node ${node.name}`)
    }
    return null
  },
})

/** Sleeps until somebody connects to the socket in the log, and sends something or leaves. */
async function interrupted(ctx: UnitContext, duration_s: number): Promise<boolean> {
  const { clock } = ctx.env
  const start_ms = clock.monotonic_ms()
  const waited_s = () => (clock.monotonic_ms() - start_ms) / 1000
  const rendezvous = await meetingPoint(ctx)
  try {
    ctx.env.log('delay-test', [rendezvous.path])
    const caller = await rendezvous.caller(duration_s)
    if (caller === undefined) return false
    const left_s = Math.max(0, duration_s - waited_s())
    ctx.log.say(`Received connection, time to go is ${Math.floor(left_s)}`)
    if (!(await caller.heard(left_s))) return false
    ctx.log.say(`Interrupted, time spent waiting: ${Math.floor(waited_s())}`)
    return true
  } finally {
    await rendezvous.close()
  }
}
