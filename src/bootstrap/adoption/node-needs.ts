// Whether a node has what the instances on it need: a node of Ganeti may have got on without, for as long as they run.
import { fillNicParams } from '../../config/filled'
import { recordValues } from '../../config/records'
import type { ConfigData, Disk, Instance } from '../../model/config'
import { PATH } from '../../model/constants/paths'
import type { Node } from '../../model/node'
import { directoryOf, factsOf } from '../../model/templates'
import { type Findings, shortList } from './features'
import type { NodeFacts } from './probe'

export function whatLacks(facts: NodeFacts, node: Node, config: ConfigData): Findings {
  const all = recordValues(config.instances)
  const here = all.filter(({ primary_node }) => primary_node === node.uuid)
  const disksOf = ({ disks }: Instance) => disks.flatMap((uuid) => config.disks[uuid] ?? [])
  // Both nodes of a mirror have its volumes.
  const groups = usedBy(all, (instance) =>
    disksOf(instance)
      .filter(({ nodes }) => nodes.includes(node.uuid))
      .flatMap(volumeGroupsOf),
  )
  const directories = usedBy(here, (instance) =>
    disksOf(instance)
      .filter(({ dev_type }) => /^(shared)?file$/.test(factsOf(dev_type).storage))
      .flatMap(({ dev_type }) => directoryOf(config.cluster, dev_type) ?? []),
  )
  const bridges = usedBy(here, ({ nics }) =>
    nics.flatMap((nic) => {
      const { mode, link } = fillNicParams(config.cluster, nic)
      return mode === 'bridged' ? [link] : []
    }),
  )
  const systems = usedBy(here, ({ os }) => [os.split('+')[0] ?? os])
  return {
    problems: [
      ...missing(
        groups,
        isIn(facts.volumeGroups),
        (name) => `there is no volume group ${name}, where these have disks`,
      ),
      ...missing(
        directories,
        allowedBy(facts.storagePaths),
        (name) => `${NOT_ALLOWED} ${name}, where these have disks`,
      ),
      ...missing(bridges, isIn(facts.bridges), (name) => `there is no bridge ${name}, to which NICs of these belong`),
    ],
    notes: missing(
      systems,
      (name) => !facts.distrusted.includes(name),
      (name) => `the OS definition ${name} is not trusted, so it can install no instance any more; it is that of these`,
    ),
  }
}

const NOT_ALLOWED = `${PATH.FILE_STORAGE_PATHS_FILE} has no line for`

/** A mirror has those of the volumes below it. */
const volumeGroupsOf = (disk: Disk): string[] =>
  [disk, ...disk.children].flatMap(({ dev_type, logical_id }) =>
    factsOf(dev_type).id === 'volume' ? [String(logical_id[0])] : [],
  )

const isIn = (names: readonly string[]) => (name: string) => names.includes(name)

const allowedBy = (paths: readonly string[]) => (directory: string) =>
  paths.some((allowed) => directory === allowed || directory.startsWith(`${allowed}/`))

/** The instances that use something, by its name. */
function usedBy(instances: readonly Instance[], uses: (one: Instance) => readonly string[]): Map<string, string[]> {
  const users = new Map<string, string[]>()
  for (const instance of instances)
    for (const name of new Set(uses(instance))) users.set(name, [...(users.get(name) ?? []), instance.name])
  return users
}

const missing = (
  used: ReadonlyMap<string, readonly string[]>,
  isThere: (name: string) => boolean,
  text: (name: string) => string,
): string[] => [...used].flatMap(([name, users]) => (isThere(name) ? [] : [`${text(name)}: ${shortList(users)}`]))
