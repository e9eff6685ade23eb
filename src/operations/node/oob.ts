// OP_OOB_COMMAND: switches nodes on and off, and asks for their health, through the program in their parameters. It
// runs on the master, because the nodes may be off.
import { change } from '../../config/changes'
import { changeOrAdvise } from '../change-or-advise'
import { fillNdParams } from '../../config/filled'
import type { ConfigData, Node } from '../../model/config'
import { OOB_HEALTH_STATUSES } from '../../model/constants/words'
import { ECODE, OpPrereqError } from '../../model/errors'
import { niceSortBy } from '../../model/nice-sort'
import { OpOobCommand } from '../../opcodes/node'
import { nodesOrAll, wantedNodes } from '../find'
import { all, exclusive, logicalUnit, type Op } from '../logical-unit'
import type { UnitContext } from '../unit-context'

type OobCommand = Op<typeof OpOobCommand>
/** `[status, value]`, with the statuses of query results. */
type Cell = [status: number, value: unknown]

const NORMAL = 0
const NO_DATA = 2
const UNAVAILABLE = 3
/** These would end the job that runs them. */
const NOT_ON_MASTER: readonly string[] = ['power-off', 'power-cycle']
const POWER_CHANGES: Readonly<Record<string, boolean>> = { 'power-on': true, 'power-off': false }

export const oobCommand = logicalUnit(OpOobCommand, {
  async locks(op, ctx) {
    const nodes = await wantedNodes(ctx, op.node_names, op.node_uuids)
    if (nodes.length > 0)
      ctx.note({ node_names: nodes.map(({ name }) => name), node_uuids: nodes.map(({ uuid }) => uuid) })
    return { node: exclusive(nodes.length === 0 ? all : nodes.map((node) => node.uuid)) }
  },
  async check(ctx, op) {
    const named = op.node_names.length > 0
    const chosen = await nodesOrAll(ctx, op.node_names)
    const config = await ctx.config.read({ nodes: chosen.map((node) => node.uuid) })
    const { master_node } = config.cluster
    const spared = NOT_ON_MASTER.includes(op.command) ? chosen.find((node) => node.uuid === master_node) : undefined
    if (spared !== undefined && named) throw masterSpared(config, spared, op.command)
    const nodes = chosen.filter((node) => node !== spared)
    const online = nodes.find((node) => !node.offline)
    if (op.command === 'power-off' && !op.ignore_status && online !== undefined)
      throw new OpPrereqError(`Cannot power off node ${online.name} because it is not marked offline`, ECODE.STATE)
    return { config, nodes: niceSortBy(nodes, (node) => node.name) }
  },
  async run(ctx, op, { config, nodes }) {
    const rows: Cell[][] = []
    for (const [index, node] of nodes.entries()) {
      const answer = await command(ctx, op, config, node)
      rows.push([[NORMAL, node.name], answer])
      // So that not all machines draw their starting current at the same moment.
      const pause = op.command === 'power-on' && answer[0] === NORMAL && index < nodes.length - 1
      if (pause) await ctx.env.clock.sleep(op.power_delay * 1000)
    }
    return rows
  },
})

const programOf = (config: ConfigData, node: Node): string => fillNdParams(config, node).oob_program

function masterSpared(config: ConfigData, master: Node, command: string): OpPrereqError {
  const program = programOf(config, master)
  const why =
    program === ''
      ? 'it does not support out-of-band operations'
      : `run '${program} ${command} ${master.name}' if you want to operate on the master regardless`
  return new OpPrereqError(
    `Operating on the master node ${master.name} is not allowed for ${command}; ${why}`,
    ECODE.INVAL,
  )
}

async function command(ctx: UnitContext, op: OobCommand, config: ConfigData, node: Node): Promise<Cell> {
  const program = programOf(config, node)
  const master = config.nodes[config.cluster.master_node]
  if (program === '' || master === undefined) return [UNAVAILABLE, null]
  ctx.env.processLog.info({ node: node.name, command: op.command, program }, 'running an out-of-band command')
  const local = ctx.env.paths.local(program)
  const result = await ctx.nodes.attempt(master, 'run_oob', [local, op.command, node.name, op.timeout])
  if (!result.ok) {
    ctx.log.warning(
      `Out-of-band RPC failed on node '${node.name}': ${result.error}`,
      ...(op.command in POWER_CHANGES && result.lost
        ? [`'gnt-node power status ${node.name}' asks whether it is on`]
        : []),
    )
    return [NO_DATA, null]
  }
  const problem = payloadProblem(op.command, result.payload)
  if (problem !== undefined) {
    ctx.log.warning(
      `Payload returned by node '${node.name}' is not valid: Check of out-of-band payload failed due to ${problem}`,
    )
    return [NO_DATA, null]
  }
  if (op.command === 'health') warnOfHealth(ctx, node, result.payload)
  const powered = POWER_CHANGES[op.command]
  if (powered !== undefined) {
    const advice = `compare with 'gnt-node power status ${node.name}', and repeat 'gnt-node power' when the configuration can be written`
    await changeOrAdvise(ctx, [change('patchNode', node.uuid, { powered })], advice)
  }
  return [NORMAL, result.payload]
}

function payloadProblem(command: string, payload: unknown): string | undefined {
  switch (command) {
    case 'health': {
      if (!Array.isArray(payload)) return `command 'health' is expected to return a list but got ${typeof payload}`
      const bad = healthItems(payload).filter(([, status]) => !OOB_HEALTH_STATUSES.some((known) => known === status))
      if (bad.length === 0) return undefined
      return bad.map(([item, status]) => `health item '${item}' has invalid status '${status}'`).join(', ')
    }
    case 'power-status':
      if (typeof payload === 'object' && payload !== null && !Array.isArray(payload)) return undefined
      return `power-status is expected to return a dict but got ${typeof payload}`
    default:
      return payload === null ? undefined : `${command} is expected to not return payload but got '${String(payload)}'`
  }
}

const healthItems = (payload: unknown): [item: string, status: string][] =>
  Array.isArray(payload)
    ? payload.map((pair: unknown) => (Array.isArray(pair) ? [String(pair[0]), String(pair[1])] : [String(pair), '']))
    : []

function warnOfHealth(ctx: UnitContext, node: Node, payload: unknown): void {
  for (const [item, status] of healthItems(payload))
    if (status === 'WARNING' || status === 'CRITICAL')
      ctx.log.warning(`Item '${item}' on node '${node.name}' has status '${status}'`)
}
