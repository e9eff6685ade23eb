// The state and room of each storage that the cluster's disk templates use on this node.
import { errorText } from '../../lib/system-failure'
import { ALLOCATION_TEMPLATES, factsOf, type StorageType } from '../../model/templates'
import { configured } from '../configuration'
import { type Collector, type NodeSources, listOf, summary } from '../report'
import { about, anything, dict, int, list, maybe, record, status, text } from '../shapes'
import { directoryStorage } from './directory'
import { cephStorage } from './ceph'
import { type FoundStorage, unmeasured } from './found-storage'
import { volumeGroupStorage } from './volume-group'

export const storage: Collector = {
  ...{ name: 'storage', category: 'storage', kind: 'status' },
  help: 'how each storage is, and its room',
  asksConfd: true,
  ...{ interval_s: 15, cost_ms: 100 },
  shape: record({
    status,
    storages: list(
      record({
        type: about('as the node calls it', text),
        name: about('the volume group, the directory or the pool', text),
        templates: about('the disk templates that use it', list(text)),
        ...{ size_bytes: maybe(int), free_bytes: maybe(int), used_bytes: maybe(int), status },
        details: about('what only this type has to tell', dict(anything)),
      }),
    ),
  }),
  codes: {
    0: 'every storage works, and has room',
    1: 'a pool is degraded, and mends itself if it can',
    2: 'a storage cannot be asked how it is',
    4: 'a storage is missing, broken or full',
  },
  open: (sources) => ({ collect: () => collect(sources) }),
}

interface Kind {
  readonly type: StorageType
  /** The place of the name in the configuration. */
  readonly named: string
  find(sources: NodeSources, name: string): Promise<FoundStorage>
}

const DIRECTORIES = ALLOCATION_TEMPLATES.flatMap((template): Kind[] => {
  const { storage: type, directory } = factsOf(template)
  return directory === undefined ? [] : [{ type, named: `/cluster/${directory}`, find: directoryStorage }]
})

const KINDS: readonly Kind[] = [
  { type: 'lvm-vg', named: '/cluster/volume_group_name', find: volumeGroupStorage },
  ...DIRECTORIES,
  { type: 'rados', named: '/cluster/diskparams/rbd/pool', find: cephStorage },
]

const templatesOn = ({ type }: Kind): readonly string[] =>
  ALLOCATION_TEMPLATES.filter((template) => factsOf(template).storage === type)

/** Templates without storage on the node. */
const WITHOUT: readonly string[] = ALLOCATION_TEMPLATES.filter((template) => {
  const { empty, adoptedOnly, ownParams } = factsOf(template)
  return empty ?? adoptedOnly ?? ownParams ?? false
})

async function collect(sources: NodeSources): Promise<unknown> {
  const enabled = listOf(await configured(sources, '/cluster/enabled_disk_templates')).map(String)
  const desired = KINDS.filter((kind) => templatesOn(kind).some((one) => enabled.includes(one)))
  const known = [...KINDS.flatMap(templatesOn), ...WITHOUT]
  const found = await Promise.all(desired.map((kind) => look(sources, kind, enabled)))
  const others = enabled.filter((template) => !known.includes(template)).map(unknownStorage)
  const storages = [...found, ...others]
  const worded = storages.map(({ name, status: { code, message } }) =>
    message === '' ? { code, message } : { code, message: `${name}: ${message}` },
  )
  return { status: summary(worded), storages }
}

async function look(sources: NodeSources, kind: Kind, enabled: readonly string[]) {
  const templates = templatesOn(kind).filter((one) => enabled.includes(one))
  const name = await configured(sources, kind.named).catch(() => undefined)
  const found = typeof name === 'string' ? await kind.find(sources, name).catch(notAsked) : UNNAMED
  return reported({ type: kind.type, name: typeof name === 'string' ? name : kind.type, templates }, found)
}

const UNNAMED = unmeasured({ code: 2, message: 'the configuration does not say where it is' })

const notAsked = (error: unknown): FoundStorage =>
  unmeasured({ code: 2, message: `it cannot be asked how it is: ${errorText(error)}` })

const unknownStorage = (template: string) =>
  reported(
    { type: template, name: template, templates: [template] },
    unmeasured({ code: 2, message: 'this node does not know how such a storage is' }),
  )

function reported(
  names: { readonly type: string; readonly name: string; readonly templates: readonly string[] },
  { size_bytes, free_bytes, status, details }: FoundStorage,
) {
  const used_bytes = size_bytes === null || free_bytes === null ? null : size_bytes - free_bytes
  return { ...names, size_bytes, free_bytes, used_bytes, status, details }
}
