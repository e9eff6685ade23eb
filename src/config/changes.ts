// All changes by name. A job sends [name, ...arguments], and wconfd runs the pure function of that name.
import type { Documents, GantryData } from '../model/config'
import { isObject } from '../lib/shapes/shape'
import { ConfigurationError } from '../model/errors'
import * as cluster from './changes/cluster'
import * as filter from './changes/filter'
import * as instance from './changes/instance'
import * as network from './changes/network'
import * as node from './changes/node'
import * as tags from './changes/tags'
import { forked } from './copy-status'
import type { ChangeContext, Changed } from './edit'
import { gantryValue, withGantryValue } from './gantry'

export type { ChangeContext } from './edit'

export const changes = {
  addInstance: instance.addInstance,
  replaceInstance: instance.replaceInstance,
  removeInstance: instance.removeInstance,
  renameInstance: instance.renameInstance,
  updateInstance: instance.updateInstance,
  patchInstance: instance.patchInstance,
  setInstanceStatus: instance.setInstanceStatus,
  setInstancePrimaryNode: instance.setInstancePrimaryNode,
  addInstanceDisk: instance.addInstanceDisk,
  attachInstanceDisk: instance.attachInstanceDisk,
  detachInstanceDisk: instance.detachInstanceDisk,
  removeInstanceDisk: instance.removeInstanceDisk,
  updateDisk: instance.updateDisk,
  patchDisk: instance.patchDisk,
  addNode: node.addNode,
  removeNode: node.removeNode,
  updateNode: node.updateNode,
  patchNode: node.patchNode,
  maintainCandidatePool: node.maintainCandidatePool,
  addNodeGroup: node.addNodeGroup,
  removeNodeGroup: node.removeNodeGroup,
  updateNodeGroup: node.updateNodeGroup,
  patchNodeGroup: node.patchNodeGroup,
  assignGroupNodes: node.assignGroupNodes,
  addNetwork: network.addNetwork,
  removeNetwork: network.removeNetwork,
  updateNetwork: network.updateNetwork,
  patchNetwork: network.patchNetwork,
  commitTemporaryIps: network.commitTemporaryIps,
  updateCluster: cluster.updateCluster,
  patchCluster: cluster.patchCluster,
  allocatePort: cluster.allocatePort,
  addTcpUdpPort: cluster.addTcpUdpPort,
  addCandidateCert: cluster.addCandidateCert,
  removeCandidateCert: cluster.removeCandidateCert,
  setMasterNode: cluster.setMasterNode,
  prepareClusterDestruction: cluster.prepareClusterDestruction,
  addTags: tags.addTags,
  removeTags: tags.removeTags,
  setFilterRule: filter.setFilterRule,
  removeFilterRule: filter.removeFilterRule,
}

/** Changes to gantry.data. */
const gantryChanges = {
  /** Sets a value of a section; null removes it. */
  setGantry(gantry: GantryData, section: string, key: string, value: unknown): GantryData {
    return withGantryValue(gantry, section, key, value)
  },
  /** The same, but only if the stored serial number matches (null: no value stored). Otherwise it is refused. */
  swapGantry(
    gantry: GantryData,
    section: string,
    key: string,
    serial_no: number | null,
    value: { readonly serial_no: number } | null,
  ): GantryData {
    const now = gantryValue(gantry, section, key)
    const found = isObject(now) ? now['serial_no'] : null
    if (found !== serial_no)
      throw new ConfigurationError(`${SOMEBODY_ELSE} ${section}/${key}: it has serial ${String(found)}`)
    return withGantryValue(gantry, section, key, value)
  },
}

/** The beginning of a refusal, when somebody else changed the same thing first. */
export const SOMEBODY_ELSE = 'Somebody else has changed'

type Tail<F> = F extends (first: never, second: never, ...rest: infer Rest) => unknown ? Rest : never
type GantryTail<F> = F extends (first: never, ...rest: infer Rest) => unknown ? Rest : never
interface ChangeArgs {
  changes: { [N in keyof typeof changes]: Tail<(typeof changes)[N]> }
  gantry: { [N in keyof typeof gantryChanges]: GantryTail<(typeof gantryChanges)[N]> }
}
type AllArgs = ChangeArgs['changes'] & ChangeArgs['gantry']

export type ChangeName = keyof AllArgs
/** A change on the wire. The compiler checked its arguments in `change`. */
export type NamedChange = readonly [name: string, ...args: unknown[]]

/** Names a change, with arguments checked by the compiler: `change('setInstanceStatus', uuid, 'up', true, 'admin')`. */
export const change = <N extends ChangeName>(name: N, ...args: AllArgs[N]): [name: string, ...args: unknown[]] => [
  name,
  ...args,
]

/**
 * Runs one change. A changed document gets the next serial number; a change without effect leaves everything as it is.
 */
export function applyChange(
  documents: Documents,
  [name, ...args]: NamedChange,
  context: ChangeContext,
): { documents: Documents; result: unknown } {
  if (Object.hasOwn(gantryChanges, name)) {
    const [section, key, value] = args
    if (typeof section !== 'string' || typeof key !== 'string')
      throw new ConfigurationError(`Change ${name}: section and key must be texts`)
    const [, , serial_no, swapped] = args
    const gantry =
      name === 'swapGantry'
        ? gantryChanges.swapGantry(documents.gantry, section, key, ...swap(serial_no, swapped))
        : gantryChanges.setGantry(documents.gantry, section, key, value)
    return { documents: stamp(documents, { ...documents, gantry }, context), result: null }
  }
  if (!Object.hasOwn(changes, name)) throw new ConfigurationError(`There is no configuration change named ${name}`)
  // Arguments come from our own processes, which used `change`. Objects are checked again field by field.
  const run = changes[name as keyof typeof changes] as (
    config: Documents['config'],
    context: ChangeContext,
    ...args: readonly unknown[]
  ) => Changed<unknown>
  const { config, result } = run(documents.config, context, ...args)
  const hasNewMaster = config.cluster.master_node !== documents.config.cluster.master_node
  const gantry = hasNewMaster ? forked(documents, context.random.uuid()) : documents.gantry
  return { documents: stamp(documents, { config, gantry }, context), result }
}

function swap(serial_no: unknown, value: unknown): [number | null, { readonly serial_no: number } | null] {
  const after = isObject(value) ? value['serial_no'] : null
  if ((serial_no !== null && typeof serial_no !== 'number') || (after !== null && typeof after !== 'number'))
    throw new ConfigurationError('Change swapGantry: values have serial numbers')
  return [serial_no, after === null ? null : { ...(isObject(value) && value), serial_no: after }]
}

function stamp(before: Documents, after: Documents, context: ChangeContext): Documents {
  if (before.config === after.config && before.gantry.sections === after.gantry.sections) return before
  const serial_no = before.config.serial_no + 1
  const gantry = before.gantry === after.gantry ? after.gantry : { ...after.gantry, serial_no }
  return { config: { ...after.config, serial_no, mtime: context.now_s }, gantry }
}
