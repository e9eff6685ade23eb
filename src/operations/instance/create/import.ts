// Creates an instance from an export, which supplies the parameters that the opcode omits.
import * as path from 'node:path'
import { parseIni, type IniSections } from '../../../lib/file/ini'
import { fillOsParams } from '../../../config/filled'
import { INSTANCE_ID } from '../../../model/cloud-init/parameters'
import { EXPORT_SECTION } from '../../../model/constants/exports'
import { EXPORT_VERSION } from '../../../model/constants/versions'
import type { ConfigData, Node } from '../../../model/config'
import { MAX_DISKS } from '../../../model/constants/disks'
import { HYPERVISORS } from '../../../model/constants/hypervisors'
import { MAX_NICS } from '../../../model/constants/params'
import { carriedTo } from '../../../model/disk-parameters'
import { PATH } from '../../../model/constants/paths'
import { ECODE, OpPrereqError } from '../../../model/errors'
import type { DiskParams, NicParams } from '../../../opcodes/types'
import { findNode } from '../../find'
import type { UnitContext } from '../../unit-context'
import { checkNodeOnline } from '../checks'
import type { CreateOp } from './plan'
import { NO_DISKS, hasDisks } from '../../../model/templates'

export interface ImportSource {
  readonly node: Node
  readonly directory: string
  readonly sections: IniSections
  readonly oldName: string
}

type Values = Readonly<Record<string, string>>

/** The node with the export: the given one, or the one that lists it. */
export async function givenSource(ctx: UnitContext, op: CreateOp): Promise<Node | undefined> {
  if (op.src_node === undefined) {
    if (op.src_path !== undefined && path.posix.isAbsolute(op.src_path))
      throw new OpPrereqError('Importing an instance from a path requires a source node option', ECODE.INVAL)
    return undefined
  }
  const { object: node } = await findNode(ctx, op.src_node, op.src_node_uuid)
  return node
}

export async function readSource(ctx: UnitContext, op: CreateOp): Promise<ImportSource> {
  const name = op.src_path ?? op.instance_name
  const node = (await givenSource(ctx, op)) ?? (await nodeWithExport(ctx, name))
  const directory = path.posix.isAbsolute(name) ? path.posix.normalize(name) : path.posix.join(PATH.EXPORT_DIR, name)
  ctx.note({ src_node: node.name, src_node_uuid: node.uuid, src_path: directory })
  checkNodeOnline(node)
  const text = await ctx.nodes.call(node, `No export or invalid export found in dir ${directory}`, 'export_info', [
    directory,
  ])
  const sections = parseIni(text)
  const version = sections[EXPORT_SECTION.export]?.['version']
  if (version !== String(EXPORT_VERSION))
    throw new OpPrereqError(`Wrong export version ${version} (wanted ${EXPORT_VERSION})`, ECODE.ENVIRON)
  return { node, directory, sections, oldName: sections[EXPORT_SECTION.instance]?.['name'] ?? name }
}

async function nodeWithExport(ctx: UnitContext, name: string): Promise<Node> {
  const { nodes } = await ctx.config.read({ nodes: 'all' })
  const lists = await ctx.nodes.many(Object.values(nodes), 'export_list', [])
  const found = Object.values(nodes).find((node) => {
    const list = lists.get(node.uuid)
    return list?.ok === true && list.payload.includes(name)
  })
  if (found !== undefined) return found
  throw new OpPrereqError(`No export found for relative path ${name}`, ECODE.INVAL)
}

/** The opcode, completed from the export. `isCopy`: the exported instance still exists. */
export function withExport(
  op: CreateOp,
  { sections, oldName }: ImportSource,
  config: ConfigData,
  isCopy: boolean,
): CreateOp {
  const instance = sections[EXPORT_SECTION.instance] ?? {}
  const exported = sections[EXPORT_SECTION.export]?.['os'] ?? ''
  const os = isNone(exported) ? '' : exported
  // For cloud-init the copy is a new installation.
  const { [INSTANCE_ID]: _, ...exportedParams } = sections[EXPORT_SECTION.os] ?? {}
  const template = op.disk_template ?? config.cluster.enabled_disk_templates[0] ?? NO_DISKS
  const disks = op.disks.length > 0 ? op.disks : exportedDisks(instance, template)
  checkSizes(disks, instance)
  const isDiskless = disks.length === 0 && instance['disk_template'] === NO_DISKS
  const disk_template = op.disk_template ?? (isDiskless ? NO_DISKS : undefined)
  if (disks.length === 0 && hasDisks(disk_template ?? ''))
    throw new OpPrereqError('No disk info specified and the export is missing the disk information', ECODE.INVAL)
  const full: CreateOp = {
    ...op,
    // An instance can be restored even if its OS variant is no longer listed.
    force_variant: true,
    os_type: os === '' ? undefined : os,
    disk_template,
    disks,
    nics: op.nics.length > 0 ? keptMacs(op, instance, oldName) : exportedNics(instance, isCopy),
    tags: op.tags.length > 0 ? op.tags : (instance['tags'] ?? '').split(/\s+/).filter((tag) => tag !== ''),
    hypervisor: op.hypervisor ?? HYPERVISORS.find((known) => known === instance['hypervisor']),
    hvparams: { ...set(sections[EXPORT_SECTION.hypervisor]), ...op.hvparams },
    beparams: { ...exportedBackend(sections, op.beparams), ...op.beparams },
    osparams: { ...exportedParams, ...op.osparams },
    osparams_private: { ...sections[EXPORT_SECTION.osPrivate], ...op.osparams_private },
  }
  return op.identify_defaults ? withoutDefaults(full, config) : full
}

/** Otherwise the end of the data would be lost. */
function checkSizes(disks: readonly DiskParams[], instance: Values): void {
  for (const [index, { size }] of disks.entries()) {
    const exported = Number(instance[`disk${index}_size`] ?? 0)
    const isUsed = known(instance[`disk${index}_dump`]) !== undefined
    if (isUsed && typeof size === 'number' && size < exported)
      throw new OpPrereqError(
        `Disk ${index} of the export has ${exported} MiB, and ${size} MiB were asked for: give it at least its size`,
        ECODE.INVAL,
      )
  }
}

function exportedDisks(instance: Values, template: string): DiskParams[] {
  return upTo(MAX_DISKS).flatMap((index) => {
    const size = instance[`disk${index}_size`]
    const name = known(instance[`disk${index}_name`])
    const params = carriedTo(beginningWith(`disk${index}_param_`, instance), template)
    return size === undefined ? [] : [{ size: Number(size), ...(name !== undefined && { name }), ...params }]
  })
}

const beginningWith = (prefix: string, values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      name.startsWith(prefix) ? [[name.slice(prefix.length), value]] : [],
    ),
  )

/** A copy gets new MAC addresses. */
function exportedNics(instance: Values, isCopy: boolean): NicParams[] {
  const numbers = upTo(MAX_NICS)
  const end = numbers.find((index) => instance[`nic${index}_mac`] === undefined) ?? MAX_NICS
  return numbers.slice(0, end).map((index) => {
    const value = (name: string) => known(instance[`nic${index}_${name}`])
    const [ip, name, network] = [value('ip'), value('name'), value('network')]
    const mac = isCopy ? undefined : value('mac')
    const [mode, link, vlan] = [value('mode'), value('link'), value('vlan')]
    // A network's parameters come from the node's group.
    const own = network === undefined ? { mode, link, vlan } : { network }
    return Object.fromEntries(Object.entries({ mac, ip, name, ...own }).filter(([, one]) => one !== undefined))
  })
}

/** The same instance gets its addresses back, unless others are given. */
function keptMacs(op: CreateOp, instance: Values, oldName: string): readonly NicParams[] {
  if (op.instance_name !== oldName) return op.nics
  return op.nics.map((nic, index) => {
    const mac = known(instance[`nic${index}_mac`])
    return (nic.mac === undefined || nic.mac === 'auto') && mac !== undefined ? { ...nic, mac } : nic
  })
}

const BACKEND: readonly string[] = ['maxmem', 'minmem', 'memory', 'vcpus']

/** Older exports store them among the instance's own values. Even older ones have `memory` for both bounds. */
function exportedBackend(sections: IniSections, input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const instance = Object.entries(sections[EXPORT_SECTION.instance] ?? {})
  const own =
    sections[EXPORT_SECTION.backend] ?? Object.fromEntries(instance.filter(([name]) => BACKEND.includes(name)))
  const { memory, ...values } = set(own)
  if (memory === undefined || 'memory' in input) return values
  return { maxmem: memory, minmem: memory, ...values }
}

/** Removes values that equal the cluster's defaults. Hypervisor and backend parameters are handled elsewhere. */
function withoutDefaults(op: CreateOp, { cluster }: ConfigData): CreateOp {
  const usual = new Map<string, unknown>(Object.entries(cluster.nicparams.default))
  const nics = op.nics.map((nic) =>
    Object.fromEntries(Object.entries(nic).filter(([name, value]) => value !== usual.get(name))),
  )
  const defaults = fillOsParams(cluster, op.os_type ?? '', {})
  const osparams = Object.entries(op.osparams).filter(([name, value]) => value !== defaults[name])
  return { ...op, nics, osparams: Object.fromEntries(osparams) }
}

/** Images of the disks on the source node; undefined if the export lacks one. */
export const imagesOf = ({ sections, directory }: ImportSource, count: number): (string | undefined)[] =>
  upTo(count).map((index) => {
    const dump = sections[EXPORT_SECTION.instance]?.[`disk${index}_dump`]
    return dump === undefined ? undefined : path.posix.join(directory, path.posix.basename(dump))
  })

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index)
const isNone = (text: string): boolean => text.toLowerCase() === 'none'
const known = (text: string | undefined): string | undefined =>
  text === undefined || text === '' || isNone(text) ? undefined : text
const set = (values: Values = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => !isNone(value)))
