// A machine with LVM: its programs, as far as drivers use them, and its devices as files below a folder of the test. The programs print and
// fail like LVM 2.03.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { type Files, systemFiles } from '../../../src/lib/files'
import type { CommandOptions, CommandResult, Run } from '../../../src/lib/programs/run-command'

const MIB = 1 << 20

/** A program of the machine: what it prints, or why it fails. */
export type Program = (args: readonly string[], env: Readonly<Record<string, string>>) => string
export class Refused extends Error {
  constructor(
    message: string,
    readonly code = 5,
  ) {
    super(message)
  }
}

export interface StorageMachine {
  readonly files: Files
  readonly run: Run
  /** Command lines, in order. */
  readonly asked: string[]
  /** More programs, by name. */
  readonly programs: Map<string, Program>
  /** Maps a path of the machine to a path of this one. */
  local(file: string): string
}

/** One volume group, `xenvg`, on one physical volume of that size, in extents of one MiB. */
export function storageMachine(root: string, size_mib = 1024): StorageMachine {
  const local = (file: string) => (/^\/(dev|proc|sys)\//.test(file) ? path.join(root, 'machine', file) : file)
  const group = local('/dev/xenvg')
  fs.mkdirSync(group, { recursive: true })
  const tags = new Map<string, string[]>()
  const sizeOf = (name: string) => fs.statSync(path.join(group, name)).size
  const free_mib = () => size_mib - fs.readdirSync(group).reduce((sum, name) => sum + sizeOf(name), 0) / MIB
  const volume = (input: string) => {
    const name = path.basename(input)
    if (!fs.existsSync(path.join(group, name))) throw new Refused(`  Failed to find logical volume "xenvg/${name}"\n`)
    return path.join(group, name)
  }
  const fresh = (name: string) => {
    const file = path.join(group, name)
    if (fs.existsSync(file)) throw new Refused(`  Logical Volume "${name}" already exists in volume group "xenvg"\n`)
    return file
  }
  const reserve = (wanted_mib: number) => {
    if (wanted_mib > free_mib())
      throw new Refused(
        `  Volume group "xenvg" has insufficient free space (${free_mib()} extents): ${wanted_mib} required.\n`,
      )
  }
  const programs = new Map<string, Program>([
    [
      'lvs',
      () =>
        fs
          .readdirSync(group)
          .map(
            (name, at) =>
              `  xenvg|${name}|${sizeOf(name)}|-wi-a-----|253|${at}|${MIB}|1|/dev/sdb(0)|${(tags.get(name) ?? []).join(',')}\n`,
          )
          .join(''),
    ],
    ['pvs', () => `  /dev/sdb|xenvg|${size_mib}.00|${free_mib()}.00|a--\n`],
    ['vgs', () => `  xenvg|${size_mib}.00|${free_mib()}.00\n`],
    [
      'lvcreate',
      (args) => {
        const [wanted_mib, name] = [Number(parameter(args, '-L').replace('m', '')), parameter(args, '-n')]
        const file = fresh(name)
        reserve(wanted_mib)
        fs.writeFileSync(file, '')
        if (args.includes('-s')) fs.copyFileSync(volume(args.at(-1) ?? ''), file)
        fs.truncateSync(file, wanted_mib * MIB)
        tags.set(name, valuesOf(args, '--addtag'))
        return `  Logical volume "${name}" created.\n`
      },
    ],
    [
      'lvchange',
      (args) => {
        const name = path.basename(volume(args.at(-1) ?? ''))
        const kept = (tags.get(name) ?? []).filter((tag) => !valuesOf(args, '--deltag').includes(tag))
        tags.set(name, [...new Set([...kept, ...valuesOf(args, '--addtag')])])
        return ''
      },
    ],
    [
      'lvextend',
      (args) => {
        const file = volume(args.find((word) => word.startsWith('/dev/xenvg/')) ?? '')
        const amount_mib = Number(/^\+(\d+)k$/.exec(args[args.indexOf('-L') + 1] ?? '')?.[1]) / 1024
        reserve(amount_mib)
        if (!args.includes('--test')) fs.truncateSync(file, fs.statSync(file).size + amount_mib * MIB)
        return '  Logical volume successfully resized.\n'
      },
    ],
    [
      'lvremove',
      (args) => {
        fs.rmSync(volume(args.at(-1) ?? ''))
        return ''
      },
    ],
    [
      'lvrename',
      ([, from = '', to = '']) => {
        fs.renameSync(volume(from), fresh(to))
        tags.set(to, tags.get(from) ?? [])
        return ''
      },
    ],
    [
      'blkdiscard',
      (args) => {
        const file = local(args.at(-1) ?? '')
        const [{ size }, length] = [fs.statSync(file), Number(parameter(args, '--length='))]
        if (length > size) throw new Refused(`blkdiscard: ${args.at(-1)}: offset is greater than device size\n`, 1)
        const rest = Buffer.alloc(size - length)
        const handle = fs.openSync(file, 'r+')
        fs.readSync(handle, rest, 0, rest.length, length)
        // A hole reads as zeros, and takes no time.
        fs.ftruncateSync(handle)
        fs.ftruncateSync(handle, size)
        fs.writeSync(handle, rest, 0, rest.length, length)
        fs.closeSync(handle)
        return ''
      },
    ],
    ['blockdev', ([, device = '']) => `${fs.statSync(local(device)).size}\n`],
  ])
  const requested: string[] = []
  const run: Run = async (argv, { env = {} }: CommandOptions) => {
    requested.push(argv.join(' '))
    const [name = '', ...args] = argv
    // Scripts are identified by their folder.
    const program = programs.get(name) ?? programs.get(name.split('/').slice(-2).join('/'))
    if (program === undefined) return answer(127, '', `spawn ${name} ENOENT`)
    try {
      return answer(0, program(args, env), '')
    } catch (error) {
      if (error instanceof Refused) return answer(error.code, '', error.message)
      throw error
    }
  }
  return { files: filesOf(local), run, asked: requested, programs, local }
}

const answer = (code: number, stdout: string, stderr: string): CommandResult => {
  return { code, signal: null, stdout, stderr, output: stdout + stderr, timedOut: false }
}

/** The rest of the word that begins so. */
const parameter = (args: readonly string[], name: string): string =>
  args.find((word) => word.startsWith(name))?.slice(name.length) ?? ''

/** Only files that drivers ask for are looked up in the machine's folder. All others are this machine's own. */
function filesOf(local: (file: string) => string): Files {
  const { open, readFile, realpath, stat, createReadStream, createWriteStream } = systemFiles
  const place = <T>(file: T) => (typeof file === 'string' ? local(file) : file)
  return {
    ...systemFiles,
    open: async (file, ...more) => {
      const handle = await open(place(file), ...more)
      return typeof file === 'string' && file.endsWith('_meta') ? forgetful(handle) : handle
    },
    stat: (async (file: string, ...more: []) => {
      const info = await stat(place(file), ...more)
      // Every file below /dev counts as a device here.
      if (file.startsWith('/dev/') && info.isFile())
        Object.assign(info, { isBlockDevice: () => true, isFile: () => false })
      return info
    }) as Files['stat'],
    realpath: (async (file: string) => {
      const real = await realpath(place(file))
      const base = await realpath(local('/dev/').replace(/dev\/$/, '')).catch(() => undefined)
      return base !== undefined && real.startsWith(base) ? real.slice(base.length).replace(/^\/?/, '/') : real
    }) as unknown as Files['realpath'],
    readFile: ((file: string, ...more: []) => readFile(place(file), ...more)) as Files['readFile'],
    createReadStream: (file, ...more) => createReadStream(place(file), ...more),
    createWriteStream: (file, ...more) => createWriteStream(place(file), ...more),
  }
}

/** DRBD's notes take 128 MiB, and no test reads them. So nothing is written to such a device. */
function forgetful(handle: fs.promises.FileHandle): fs.promises.FileHandle {
  const write = (_buffer: unknown, _from: number, length: number) => Promise.resolve({ bytesWritten: length })
  return Object.assign(handle, { write })
}

const valuesOf = (args: readonly string[], option: string): string[] =>
  args.flatMap((word, at) => (args[at - 1] === option ? [word] : []))
