// The storage units of one node, as it reports them now.
import { findNode } from '../../config/lookup'
import type { ConfigData, Node } from '../../model/config'
import { STORAGE_TYPES_NODE_STORAGE } from '../../model/constants/disks'
import { ECODE, OpPrereqError } from '../../model/errors'
import { niceSortBy } from '../../model/nice-sort'
import { isStorageEnabled, placeOf, type StorageType } from '../../model/templates'
import type { NodeStorage, StorageUnit } from '../../rpc/luxi/resources'
import type { MasterContext } from '../master-context'

const FIELDS: readonly string[] = ['name', 'size', 'used', 'free', 'allocatable']

/** `config` is the part that the caller may know. */
export function storageOf(
  { questions }: Pick<MasterContext, 'questions'>,
  config: ConfigData,
  name: string,
): Promise<NodeStorage[]> {
  const node = findNode(config, name)
  if (node === undefined) throw new OpPrereqError(`Node '${name}' not known`, ECODE.NOENT)
  const types = STORAGE_TYPES_NODE_STORAGE.filter((type) => isStorageEnabled(config.cluster, type))
  return Promise.all(types.map((type) => unitsOf(questions, config, node, type)))
}

async function unitsOf(
  questions: MasterContext['questions'],
  { cluster }: ConfigData,
  node: Node,
  type: StorageType,
): Promise<NodeStorage> {
  const args = [type, placeOf(cluster, type), null, [...FIELDS]] as const
  const answer = await questions.ask(node, 'storage_list', [...args])
  if (!answer.ok) return { type, units: [], problem: answer.error }
  return { type, units: niceSortBy(answer.payload.map(unitOf), (unit) => unit.name), problem: null }
}

function unitOf([name, size, used, free, allocatable]: readonly unknown[]): StorageUnit {
  return {
    name: String(name),
    size: sizeOf(size),
    used: sizeOf(used),
    free: sizeOf(free),
    allocatable: allocatable === true,
  }
}

const sizeOf = (value: unknown): number | null => (typeof value === 'number' ? value : null)
