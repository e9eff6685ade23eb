// Actions on many instances at once. Each is an action on one instance, with some of its fields.
import { schema as failover } from 'openapi:POST /3/instances/{name}/failover'
import { schema as migrate } from 'openapi:POST /3/instances/{name}/migrate'
import { schema as reboot } from 'openapi:POST /3/instances/{name}/reboot'
import { schema as shutdown } from 'openapi:POST /3/instances/{name}/shutdown'
import { schema as tags } from 'openapi:POST /3/instances/{name}/tags'
import { type Field, fieldOf, type Values } from '../../forms/schema'
import type { FieldAction } from '../../parts/action'
import type { Plan } from '../../parts/use-plan'
import { texts } from '../../texts'
import { ADD_TAGS, REMOVE } from './actions/change'
import { FAILOVER, MIGRATE } from './actions/move'
import { REBOOT, START, STOP } from './actions/run'
import type { Instance } from './instance'

const words = texts.instances.bulk
const own = texts.instances.actions

export interface BulkAction {
  readonly action: FieldAction<Instance>
  readonly text: (count: number) => string
  readonly fields: readonly Field[]
  readonly opcode: string
  /** Parameters that the request of the single action always has. The body may replace them. */
  readonly preset?: Values
}

export const BULK: readonly BulkAction[] = [
  { action: START, text: words.start, fields: [], opcode: 'OP_INSTANCE_STARTUP' },
  {
    ...{ action: STOP, text: words.stop, opcode: 'OP_INSTANCE_SHUTDOWN' },
    fields: [fieldOf(shutdown, 'timeout', own.shutdown.timeout)],
  },
  {
    ...{ action: REBOOT, text: words.reboot, opcode: 'OP_INSTANCE_REBOOT', preset: { reboot_type: 'hard' } },
    fields: [fieldOf(reboot, 'reboot_type', { ...own.reboot.reboot_type, initial: 'hard', required: false })],
  },
  {
    ...{ action: MIGRATE, text: words.migrate, opcode: 'OP_INSTANCE_MIGRATE' },
    fields: [
      fieldOf(migrate, 'target_node', own.target),
      fieldOf(migrate, 'allow_failover', own.migrate.allow_failover),
    ],
  },
  {
    ...{ action: FAILOVER, text: words.failover, opcode: 'OP_INSTANCE_FAILOVER' },
    fields: [fieldOf(failover, 'target_node', own.target)],
  },
  {
    ...{ action: ADD_TAGS, text: words.tags, opcode: 'OP_TAGS_SET' },
    fields: [{ ...fieldOf(tags, 'tags', own.tags.tags), required: true }],
  },
  { action: REMOVE, text: words.remove, fields: [], opcode: 'OP_INSTANCE_REMOVE' },
]

/** Whether the plan is about all of these instances, and possible for none. Each has a job of its own, so others do not matter. */
export const isHopeless = ({ ops }: Pick<Plan, 'ops'>, names: readonly string[]): boolean =>
  ops.length >= names.length && ops.every(({ possible }) => possible === false)

/** The opcodes of an action, one for each instance. */
export function opcodesOf({ opcode, preset }: BulkAction, names: readonly string[], body: Values): object[] {
  const about = (name: string) => (opcode === 'OP_TAGS_SET' ? { kind: 'instance', name } : { instance_name: name })
  return names.map((name) => ({ OP_ID: opcode, ...about(name), ...preset, ...body }))
}
