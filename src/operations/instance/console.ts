// OP_INSTANCE_CONSOLE: tells how to reach the console of a running instance.
import { consoleOn, consoleRequest } from '../../config/rpc-dicts'
import { OpExecError } from '../../model/errors'
import { OpInstanceConsole } from '../../opcodes/instance'
import { logicalUnit, shared } from '../logical-unit'
import { checkNodeOnline } from './checks'
import { readInstance } from './view'

const STATUS = { up: 'ERROR_down', down: 'ADMIN_down', offline: 'ADMIN_offline' }

export const instanceConsole = logicalUnit(OpInstanceConsole, {
  async locks(op, ctx) {
    return { instance: shared([(await readInstance(ctx, op)).instance.name]) }
  },
  async check(ctx, op) {
    const view = await readInstance(ctx, op)
    checkNodeOnline(view.primary)
    return view
  },
  async run(ctx, _op, view) {
    const { config, instance, primary } = view
    const what = `Can't get node information from ${primary.name}`
    const running = await ctx.nodes.call(primary, what, 'instance_list', [
      [instance.hypervisor],
      config.cluster.hvparams,
    ])
    if (!running.includes(instance.name))
      throw new OpExecError(`Instance ${instance.name} is not running (state ${STATUS[instance.admin_state]})`)
    const answer = await ctx.nodes.call(
      primary,
      `Can't get console information from ${primary.name}`,
      'instance_console_info',
      [{ [instance.name]: consoleRequest(config, instance, primary) }],
    )
    const console = answer[instance.name]
    if (console === undefined)
      throw new OpExecError(`Node ${primary.name} knows no console of instance ${instance.name}`)
    return consoleOn(primary, instance, console)
  },
})
