// Writes a CD-ROM file system (ECMA-119) with a few files in its root. Rock Ridge entries keep lower-case names and
// file modes. The same files give the same bytes: there are no times.

const SECTOR = 2048
/** The first sectors are for boot loaders. After them come fixed tables, the root directory, and the files. */
const AT = { volume: 16, end: 17, littlePaths: 18, bigPaths: 19, root: 20, files: 21 } as const
const PATH_TABLE_BYTES = 10
const DIRECTORY = 2
/** Only root of the machine that mounts the disk may read it. */
const [DIRECTORY_MODE, FILE_MODE] = [0o040500, 0o100400]
const [SELF, PARENT] = ['\0', '\x01']

/** `label` has at most 32 characters, a file name at most 27, and all names must fit into one sector. */
export function iso9660(label: string, files: Readonly<Record<string, string>>): Buffer {
  let next: number = AT.files
  const placed = Object.entries(files)
    .map(([name, text]) => ({ name, data: Buffer.from(text) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, data }) => {
      const sector = next
      next += Math.ceil(data.length / SECTOR)
      return { name, data, sector }
    })
  const image = Buffer.alloc(next * SECTOR)
  const put = (sector: number, data: Buffer) => data.copy(image, sector * SECTOR)
  put(AT.volume, volumeDescriptor(label, next))
  put(AT.end, Buffer.from('\xffCD001\x01', 'latin1'))
  put(AT.littlePaths, pathTable('little'))
  put(AT.bigPaths, pathTable('big'))
  put(AT.root, rootDirectory(placed))
  for (const { data, sector } of placed) put(sector, data)
  return image
}

function volumeDescriptor(label: string, sectors: number): Buffer {
  const bytes = Buffer.alloc(SECTOR)
  const text = (value: string, at: number, length: number) => bytes.write(value.padEnd(length), at, length, 'latin1')
  bytes.write('\x01CD001\x01', 0, 'latin1')
  text('', 8, 32)
  text(label, 40, 32)
  both32(sectors).copy(bytes, 80)
  for (const at of [120, 124]) both16(1).copy(bytes, at)
  both16(SECTOR).copy(bytes, 128)
  both32(PATH_TABLE_BYTES).copy(bytes, 132)
  bytes.writeUInt32LE(AT.littlePaths, 140)
  bytes.writeUInt32BE(AT.bigPaths, 148)
  directoryRecord({ name: SELF, sector: AT.root, size: SECTOR, flags: DIRECTORY }).copy(bytes, 156)
  text('', 190, 623)
  for (const at of [813, 830, 847, 864]) bytes.write('0'.repeat(16), at)
  bytes[881] = 1
  return bytes
}

/** The root is the only directory, and its own parent. */
function pathTable(order: 'little' | 'big'): Buffer {
  const bytes = Buffer.alloc(PATH_TABLE_BYTES)
  bytes[0] = 1
  if (order === 'little') bytes.writeUInt32LE(AT.root, 2)
  else bytes.writeUInt32BE(AT.root, 2)
  bytes[order === 'little' ? 6 : 7] = 1
  return bytes
}

function rootDirectory(files: readonly { name: string; data: Buffer; sector: number }[]): Buffer {
  const root = { sector: AT.root, size: SECTOR, flags: DIRECTORY }
  const records = [
    directoryRecord({ ...root, name: SELF, extra: [RIDGE_START, posix(DIRECTORY_MODE, 2), RIDGE_NAME] }),
    directoryRecord({ ...root, name: PARENT, extra: [posix(DIRECTORY_MODE, 2)] }),
    ...files.map(({ name, data, sector }) =>
      directoryRecord({
        name: `${name.toUpperCase()}.;1`,
        sector,
        size: data.length,
        flags: 0,
        extra: [posix(FILE_MODE, 1), ridge('NM', Buffer.from(`\0${name}`))],
      }),
    ),
  ]
  const bytes = Buffer.concat(records)
  if (bytes.length > SECTOR) throw new Error(`The names of ${files.length} files do not fit into one sector`)
  return bytes
}

interface Entry {
  readonly name: string
  readonly sector: number
  readonly size: number
  readonly flags: number
  /** Rock Ridge entries. */
  readonly extra?: readonly Buffer[]
}

function directoryRecord({ name, sector, size, flags, extra = [] }: Entry): Buffer {
  const head = Buffer.alloc(33 + name.length + ((name.length + 1) % 2))
  both32(sector).copy(head, 2)
  both32(size).copy(head, 10)
  head[25] = flags
  both16(1).copy(head, 28)
  head[32] = name.length
  head.write(name, 33, 'latin1')
  const record = Buffer.concat([head, ...extra])
  const padded = Buffer.concat([record, Buffer.alloc(record.length % 2)])
  padded[0] = padded.length
  return padded
}

const ridge = (kind: string, data: Buffer): Buffer =>
  Buffer.concat([Buffer.from(kind), Buffer.from([4 + data.length, 1]), data])

/** Announces Rock Ridge entries, and their version. */
const RIDGE_START = ridge('SP', Buffer.from([0xbe, 0xef, 0]))
const RIDGE_NAME = ridge('ER', Buffer.concat([Buffer.from([10, 0, 0, 1]), Buffer.from('RRIP_1991A')]))

/** Mode and number of links; root owns it. */
const posix = (mode: number, links: number): Buffer =>
  ridge('PX', Buffer.concat([both32(mode), both32(links), both32(0), both32(0)]))

/** Numbers are stored in both byte orders, one after the other. */
function both32(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt32LE(value, 0)
  bytes.writeUInt32BE(value, 4)
  return bytes
}

function both16(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt16LE(value, 0)
  bytes.writeUInt16BE(value, 2)
  return bytes
}
