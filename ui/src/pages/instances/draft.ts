// The typed values of a new instance, and the body of the request that creates it.
import type { Field, Values } from '../../forms/schema'
import { bodyOf } from '../../forms/values'
import { flagValue, gntText, shellWord } from '../../parts/gnt'

export interface Row {
  readonly key: number
  readonly values: Values
}

export interface DraftParts {
  /** Parameters outside of these parts. */
  readonly plain: Values
  /** Parameters of the backend, the hypervisor and the OS. */
  readonly beparams: Values
  readonly hvparams: Values
  readonly osparams: Values
  readonly disks: readonly Values[]
  readonly nics: readonly Values[]
}

/** The source of the instance: an OS, or an export. */
export type Source =
  { readonly kind: 'new' } | { readonly kind: 'export'; readonly node: string; readonly name: string }

export function bodyOfDraft(
  { plain, disks, nics, beparams, ...others }: DraftParts,
  source: Source,
): Record<string, unknown> {
  const params = { beparams: bothMemories(beparams), ...others }
  const filled = Object.entries(params).filter(([, values]) => Object.keys(values).length > 0)
  return {
    ...plain,
    ...(source.kind === 'export' ? { mode: 'import', src_node: source.node, src_path: source.name } : {}),
    disks: plain['disk_template'] === 'diskless' ? [] : disks,
    nics,
    ...Object.fromEntries(filled),
  }
}

/** If only the maximum memory is given, it is the minimum, too. */
function bothMemories({ maxmem, ...others }: Values): Values {
  if (maxmem === undefined) return others
  return others['minmem'] === undefined ? { ...others, memory: maxmem } : { ...others, maxmem }
}

/** Fields of one part of the draft. The name of the part precedes their names in the form. */
export const within = (part: string, fields: readonly Field[]): Field[] =>
  fields.map((field) => ({ ...field, name: `${part}/${field.name}` }))

/** The parameters of one part. */
export function partOf(part: string, body: Values): Values {
  const entries = Object.entries(body).flatMap(([name, value]) =>
    name.startsWith(`${part}/`) ? [[name.slice(part.length + 1), value] as const] : [],
  )
  return Object.fromEntries(entries)
}

export const plainOf = (body: Values): Values =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !name.includes('/')))

export const rowBody = (fields: readonly Field[], { values }: Row): Values => bodyOf(fields, values)

/** The gnt command: `gnt instance add`, or `gnt backup import`. */
export function gntOfDraft(body: Values, source: Source): string {
  const { instance_name: name, pnode, snode, disks, nics, mode: _, src_path: path, start, ...others } = body
  const node = [pnode, snode].filter((one) => one !== undefined).join(':')
  const hypervisor = flagOfHypervisor(body)
  const flags = {
    ...Object.fromEntries(Object.entries(others).filter(([flag]) => flag !== 'hypervisor' && flag !== 'hvparams')),
    ...(node === '' ? {} : { node }),
    ...(path === undefined ? {} : { 'src-dir': path }),
    // By default, gnt starts a new instance, but not an imported one.
    ...(source.kind === 'export' ? start !== false && { start: true } : { start }),
  }
  const words = [
    gntText(source.kind === 'export' ? 'backup import' : 'instance add', flags, [], CREATE_FLAGS),
    ...(hypervisor === undefined ? [] : [`--hypervisor-parameters=${shellWord(hypervisor)}`]),
    ...deviceWords('disk', disks),
    ...(Array.isArray(nics) && nics.length === 0 && source.kind === 'new' ? ['--no-nics'] : deviceWords('net', nics)),
    shellWord(String(name ?? 'NAME')),
  ]
  return words.join(' ')
}

const CREATE_FLAGS = {
  ...{ os_type: 'os-type', group_name: 'node-group', beparams: 'backend-parameters', osparams: 'os-parameters' },
  ...{ osparams_private: 'os-parameters-private', osparams_secret: 'os-parameters-secret' },
  ...{ instance_communication: 'communication' },
}

/** `kvm:kernel_path=,boot_order=cdrom` */
function flagOfHypervisor({ hypervisor, hvparams }: Values): string | undefined {
  if (hypervisor === undefined) return undefined
  return [String(hypervisor), flagValue(hvparams ?? {})].filter((word) => word !== '').join(':')
}

function deviceWords(flag: string, devices: unknown): string[] {
  if (!Array.isArray(devices)) return []
  return (devices as readonly Values[]).map((device, at) => `--${flag}=${shellWord(`${at}:${flagValue(device)}`)}`)
}
