// One state of the configuration, indexed for confd's questions: objects by name, and instances by their addresses.
import { fillNicParams } from '../../config/filled'
import { byName, keyByName, recordFindPrefix, recordGet, recordValues, type Dictionary } from '../../config/records'
import type { ConfigData, GantryData, Instance, Node } from '../../model/config'
import { compareText } from '../../model/nice-sort'

/** The object, or Ganeti's error text if it is not found. */
type Found<T> = T | string

export class ConfigView {
  private links: ReadonlyMap<string, ReadonlyMap<string, Instance>> | undefined

  constructor(
    readonly config: ConfigData,
    /** The public part of gantry.data. */
    readonly gantry: Pick<GantryData, 'sections'> = { sections: {} },
  ) {}

  node(name: string): Found<Node> {
    return find('Node', this.config.nodes, name)
  }

  instance(name: string): Found<Instance> {
    return find('Instance', this.config.instances, name)
  }

  get defaultLink(): string {
    return this.config.cluster.nicparams.default.link
  }

  instanceAt(link: string, ip: string): Instance | undefined {
    return this.byLink().get(link)?.get(ip)
  }

  instanceIps(link: string): string[] {
    return [...(this.byLink().get(link)?.keys() ?? [])].sort(compareText)
  }

  private byLink(): ReadonlyMap<string, ReadonlyMap<string, Instance>> {
    return (this.links ??= linksOf(this.config))
  }
}

/** If two instances have the same address on one link, the later one counts. */
function linksOf({ cluster, instances }: ConfigData): Map<string, Map<string, Instance>> {
  const links = new Map<string, Map<string, Instance>>()
  for (const instance of recordValues(instances))
    for (const nic of instance.nics) {
      if (nic.ip === undefined) continue
      const { link } = fillNicParams(cluster, nic)
      const same = links.get(link) ?? new Map<string, Instance>()
      links.set(link, same.set(nic.ip, instance))
    }
  return links
}

/** Finds by uuid, by name, or by the first parts of a unique name. Unlike commands, confd is case-sensitive. */
function find<T extends { readonly name: string }>(kind: string, objects: Dictionary<T>, name: string): Found<T> {
  const same = recordGet(objects, name) ?? recordGet(objects, keyByName(objects, name) ?? '')
  if (same !== undefined) return same
  const [first, another] = recordFindPrefix(objects, byName, `${name}.`)
  if (first === undefined) return `${kind} name ${name} not found`
  return another === undefined ? first : `${kind} name ${name} has multiple matches`
}
