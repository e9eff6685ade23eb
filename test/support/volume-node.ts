// What the programs of LVM and DRBD change on a node, without a kernel. The commands of Ganeti and of ours are carried out on a node each,
// and what is there afterwards is compared.
import { VERSION } from './drbd-node'

interface Physical {
  vg: string
  readonly size_mib: number
  allocatable: boolean
}

interface Volume {
  size_mib: number
  readonly stripes: number
  readonly places: readonly string[]
  readonly origin?: string
  tags: string[]
  /** Some program has it open. */
  held?: boolean
}

interface Minor {
  readonly resource: string
  data?: string
  meta?: string
  /** What was said about the data and about the connection, apart from their places. */
  attached?: string[]
  speed?: string[]
  net?: { readonly local: string; readonly remote: string; readonly options: string[] }
  size?: string
  role: string
}

const EXTENT_MIB = 4
const [KIB, MIB] = [1024, 1 << 20]
/** The sizes in which LVM is asked to print, in MiB. */
const UNITS: Readonly<Record<string, number>> = { b: 1 / MIB, k: 1 / KIB, m: 1 }

export class VolumeNode {
  private readonly physical = new Map<string, Physical>()
  private readonly volumes = new Map<string, Volume>()
  private readonly minors = new Map<number, Minor>()
  private readonly resources = new Set<string>()
  /** Devices with empty notes of DRBD. */
  private readonly noted = new Set<string>()

  constructor(physical: Readonly<Record<string, readonly [vg: string, size_mib: number]>>) {
    for (const [name, [vg, size_mib]] of Object.entries(physical))
      this.physical.set(name, { vg, size_mib, allocatable: true })
  }

  /** Everything that is there. */
  state(): unknown {
    const { physical, volumes, minors, noted } = this
    const sorted = (map: Map<unknown, unknown>) => Object.fromEntries([...map].map(([key, one]) => [String(key), one]))
    return JSON.parse(
      JSON.stringify({
        physical: sorted(physical),
        volumes: sorted(volumes),
        minors: sorted(minors),
        noted: [...noted].sort(),
      }),
    )
  }

  /** Returns what the program prints. */
  run(argv: readonly string[]): string {
    const [program = '', ...words] = argv
    const own = PROGRAMS[program === 'drbdsetup' ? `${program} ${words[0]}` : program]
    if (own === undefined) throw new Error(`not known here: ${argv.join(' ')}`)
    return own(this.parts(), program === 'drbdsetup' ? words.slice(1) : words) ?? ''
  }

  /** What the kernel tells of DRBD. */
  kernel(): string {
    const lines = [...this.minors].map(([minor, { data, net, role }]) => {
      const peer = net === undefined ? ['Unknown', 'DUnknown'] : ['Secondary', 'UpToDate']
      const disk = data === undefined ? 'Diskless' : 'UpToDate'
      return ` ${minor}: cs:${net ? 'Connected' : 'StandAlone'} ro:${role}/${peer[0]} ds:${disk}/${peer[1]} C r-----\n`
    })
    return VERSION + lines.join('')
  }

  minorSize_mib(minor: number): number {
    return Number.parseInt(this.minors.get(minor)?.size ?? '0', 10)
  }

  private parts = (): Parts => ({
    physical: this.physical,
    volumes: this.volumes,
    minors: this.minors,
    resources: this.resources,
    noted: this.noted,
  })
}

interface Parts {
  readonly physical: Map<string, Physical>
  readonly volumes: Map<string, Volume>
  readonly minors: Map<number, Minor>
  readonly resources: Set<string>
  readonly noted: Set<string>
}

type Program = (parts: Parts, words: readonly string[]) => string | undefined | void

/** What a program says when it changes nothing and ends with an error. */
export class Refusal extends Error {}

/** A number that stands right behind its letter, such as `-L32m`. */
const sized = (words: readonly string[], letter: string): string | undefined =>
  words.find((word) => word.startsWith(`-${letter}`))?.slice(2)
const after = (words: readonly string[], name: string): string | undefined =>
  words.includes(name) ? words[words.indexOf(name) + 1] : undefined
const nameOf = (path: string): string => path.replace('/dev/', '')

function need<T>(found: T | undefined, what: string): T {
  if (found === undefined) throw new Error(`${what} is not there`)
  return found
}

/** LVM rounds up to whole extents on each stripe. */
const rounded = (size_mib: number, stripes: number): number =>
  Math.ceil(size_mib / EXTENT_MIB / stripes) * stripes * EXTENT_MIB

const volume = ({ volumes }: Parts, path: string): Volume => need(volumes.get(nameOf(path)), path)
const minorOf = ({ minors }: Parts, minor: string | undefined): Minor =>
  need(minors.get(Number(minor)), `minor ${minor}`)

function create(parts: Parts, words: readonly string[]): void {
  const name = need(sized(words, 'n'), 'a name')
  const asked_mib = Number.parseInt(need(sized(words, 'L'), 'a size'), 10)
  if (words.includes('-s')) {
    const origin = nameOf(words.at(-1) ?? '')
    const { places } = volume(parts, origin)
    parts.volumes.set(`${origin.split('/')[0]}/${name}`, {
      size_mib: rounded(asked_mib, 1),
      stripes: 1,
      places,
      origin,
      tags: [],
    })
    return
  }
  const [vg = '', ...input] = words.filter((word, at) => !word.startsWith('-') && words[at - 1] !== '--addtag')
  const stripes = Number(sized(words, 'i') ?? 1)
  const size_mib = rounded(asked_mib, stripes)
  if (parts.volumes.has(`${vg}/${name}`)) throw new Refusal(`Logical Volume "${name}" already exists in "${vg}"`)
  const usable = [...parts.physical].flatMap(([device, one]) => (one.vg === vg && one.allocatable ? [device] : []))
  if (usable.length === 0) throw new Refusal('No allocatable physical volumes')
  parts.volumes.set(`${vg}/${name}`, {
    size_mib,
    stripes,
    places: (input.length === 0 ? usable : input).toSorted().slice(0, stripes),
    tags: words.filter((_, at) => words[at - 1] === '--addtag'),
  })
}

function change(parts: Parts, words: readonly string[]): void {
  const found = volume(parts, words.at(-1) ?? '')
  const input = (name: string) => words.filter((_, at) => words[at - 1] === name)
  const gone = input('--deltag')
  found.tags = [...new Set([...found.tags.filter((tag) => !gone.includes(tag)), ...input('--addtag')])]
}

function extend(parts: Parts, words: readonly string[]): void {
  const path = need(
    words.find((word) => word.startsWith('/dev/')),
    'a volume',
  )
  const found = volume(parts, path)
  const more_mib = Number.parseInt(need(after(words, '-L'), 'a size'), 10) / KIB
  if (!words.includes('--test')) found.size_mib += rounded(more_mib, found.stripes)
}

function rename({ volumes }: Parts, [vg, from, to]: readonly string[]): void {
  const found = need(volumes.get(`${vg}/${from}`), String(from))
  volumes.delete(`${vg}/${from}`)
  volumes.set(`${vg}/${to}`, found)
}

/** The rows of a report, with the columns and the unit that are asked for. */
function report(words: readonly string[], rows: readonly Readonly<Record<string, string | number>>[]): string {
  const columns = (sized(words, 'o') ?? '').split(',')
  const unit = UNITS[words.find((word) => word.startsWith('--units='))?.slice('--units='.length) ?? 'm'] ?? 1
  const only = words.includes('--') ? words.slice(words.indexOf('--') + 1) : undefined
  const cell = (value: string | number | undefined, column: string) =>
    typeof value === 'number' ? (value / unit).toFixed(unit === UNITS['b'] ? 0 : 2) : need(value, column)
  return rows
    .filter((row) => only?.includes(String(row['vg_name'])) ?? true)
    .map((row) => `  ${columns.map((column) => cell(row[column], column)).join('|')}\n`)
    .join('')
}

const free_mib = ({ volumes }: Parts, device: string, size_mib: number): number =>
  [...volumes.values()]
    .filter(({ places }) => places.includes(device))
    .reduce((left, one) => left - one.size_mib / one.places.length, size_mib)

const physicalRows = (parts: Parts) =>
  [...parts.physical].map(([pv_name, { vg, size_mib, allocatable }]) => ({
    ...{ pv_name, vg_name: vg, pv_size: size_mib, pv_free: free_mib(parts, pv_name, size_mib) },
    pv_attr: allocatable ? 'a--' : '---',
  }))

function volumeRows({ volumes }: Parts) {
  return [...volumes].map(([path, { size_mib, stripes, places, tags, held = false }], at) => {
    const [vg_name = '', lv_name = ''] = path.split('/')
    return {
      ...{ vg_name, lv_name, lv_size: size_mib, lv_attr: `-wi-a${held ? 'o' : '-'}----` },
      ...{ lv_kernel_major: '253', lv_kernel_minor: `${at}` },
      ...{ vg_extent_size: EXTENT_MIB, stripes: `${stripes}`, lv_tags: tags.join() },
      devices: places.map((device) => `${device}(0)`).join(),
    }
  })
}

function groupRows(parts: Parts) {
  const groups = [...new Set([...parts.physical.values()].map(({ vg }) => vg))]
  return groups.map((vg_name) => {
    const own = physicalRows(parts).filter((row) => row.vg_name === vg_name)
    const sum = (key: 'pv_size' | 'pv_free') => own.reduce((all, row) => all + row[key], 0)
    return { vg_name, vg_size: sum('pv_size'), vg_free: sum('pv_free') }
  })
}

function displayed({ minors }: Parts): string {
  const address = (text: string) => text.replace(':', ' ')
  return [...minors]
    .map(([minor, { resource, data, meta, net }]) => {
      const places = data === undefined ? '' : `disk "${data}"; meta-disk "${meta}";`
      const [local, remote] = net ? [`address ${address(net.local)};`, `address ${address(net.remote)};`] : ['', '']
      const other = net ? `_remote_host { ${remote} }` : ''
      return `resource ${resource} { ${other} _this_host { ${local} volume 0 { device minor ${minor}; ${places} } } }\n`
    })
    .join('')
}

function attach(parts: Parts, [minor, data = '', meta = '', _layout, ...options]: readonly string[]): void {
  const found = minorOf(parts, minor)
  const size = after(options, '--size') ?? '0m'
  Object.assign(found, { data, meta, size, attached: options.filter((word) => word !== '--size' && word !== size) })
}

function connect(parts: Parts, [resource, local = '', remote = '', ...options]: readonly string[]): void {
  const found = [...parts.minors.values()].find((one) => one.resource === resource)
  need(found, String(resource)).net = { local, remote, options }
}

function disconnect(parts: Parts, [local]: readonly string[]): void {
  for (const one of parts.minors.values()) if (one.net?.local === local) delete one.net
}

function down({ minors, resources }: Parts, [resource = '']: readonly string[]): void {
  for (const [minor, one] of minors) if (one.resource === resource) minors.delete(minor)
  resources.delete(resource)
}

function meta(parts: Parts, words: readonly string[]): void {
  const place = need(
    words.find((word) => word.startsWith('/dev/') && !word.startsWith('/dev/drbd')),
    'a place',
  )
  volume(parts, place)
  if (words.includes('create-md')) parts.noted.add(place)
}

const noop: Program = () => undefined

const PROGRAMS: Readonly<Record<string, Program>> = {
  pvs: (parts, words) => report(words, physicalRows(parts)),
  vgs: (parts, words) => report(words, groupRows(parts)),
  lvs: (parts, words) => (words.includes('tags') ? '' : report(words, volumeRows(parts))),
  lvcreate: create,
  lvchange: change,
  lvextend: extend,
  lvrename: rename,
  lvremove: (parts, [, ...paths]) => {
    for (const path of paths) {
      volume(parts, path)
      parts.volumes.delete(nameOf(path))
      parts.noted.delete(`/dev/${nameOf(path)}`)
    }
  },
  pvchange: ({ physical }, words) => {
    need(physical.get(words.at(-1) ?? ''), 'the physical volume').allocatable = after(words, '--allocatable') === 'y'
  },
  vgremove: ({ physical }, words) => {
    for (const one of physical.values()) if (one.vg === words.at(-1)) one.vg = ''
  },
  vgextend: ({ physical }, [vg = '', device = '']) => {
    need(physical.get(device), device).vg = vg
  },
  blockdev: (parts, [what, path = '']) =>
    `${(volume(parts, path).size_mib * MIB) / (what === '--getsize64' ? 1 : 512)}\n`,
  blkdiscard: (parts, words) => void volume(parts, words.at(-1) ?? ''),
  dd: noop,
  /** Opens a volume. */
  hold: (parts, [place = '']) => void (volume(parts, place).held = true),
  drbdmeta: meta,
  'drbdsetup show': (parts) => displayed(parts),
  'drbdsetup new-resource': ({ resources }, [resource = '']) => void resources.add(resource),
  'drbdsetup new-minor': ({ minors }, [resource = '', minor]) => {
    if (!minors.has(Number(minor))) minors.set(Number(minor), { resource, role: 'Secondary' })
  },
  'drbdsetup attach': attach,
  'drbdsetup detach': (parts, [minor]) => {
    const found = minorOf(parts, minor)
    for (const key of ['data', 'meta', 'attached', 'speed'] as const) delete found[key]
  },
  'drbdsetup disk-options': (parts, [minor, ...options]) => void (minorOf(parts, minor).speed = options),
  'drbdsetup connect': connect,
  'drbdsetup disconnect': disconnect,
  'drbdsetup down': down,
  'drbdsetup primary': (parts, [minor]) => void (minorOf(parts, minor).role = 'Primary'),
  'drbdsetup secondary': (parts, [minor]) => void (minorOf(parts, minor).role = 'Secondary'),
  'drbdsetup resize': (parts, [minor, , size = '']) => void (minorOf(parts, minor).size = size),
}
