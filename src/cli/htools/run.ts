// The allocation programs by name.
import { hail } from './hail'
import { harep } from './harep'
import { hbal } from './hbal'
import { hcheck } from './hcheck'
import { hinfo } from './hinfo'
import { hroller } from './hroller'
import { hscan } from './hscan'
import { hspace } from './hspace'
import { hsqueeze } from './hsqueeze'
import { monCollector } from './mon-collector'
import { Stop, type Context } from './context'

const PROGRAMS: Readonly<Record<string, Program>> = {
  hail,
  harep,
  hbal,
  hcheck,
  hinfo,
  hroller,
  hscan,
  hspace,
  hsqueeze,
  'mon-collector': monCollector,
}

type Program = (args: readonly string[], surroundings: Context) => number | Promise<number>

/** Runs a program and returns its exit code, synchronously if the program asks no daemon. */
export function runHtool(name: string, args: readonly string[], surroundings: Context): number | Promise<number> {
  const program = Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined
  if (program === undefined) {
    surroundings.err(`${name}: there is no such program; there are ${Object.keys(PROGRAMS).join(', ')}\n`)
    return 1
  }
  if (args[0] === '--complete-words') return completeWords(program, args.at(-1) ?? '', surroundings)
  const stopped = (error: unknown) => {
    if (!(error instanceof Stop)) throw error
    surroundings.out(error.out)
    surroundings.err(error.err)
    return error.code
  }
  try {
    const code = program(args, surroundings)
    return typeof code === 'number' ? code : code.catch(stopped)
  } catch (error) {
    return stopped(error)
  }
}

/** For a shell: prints what the word may become, from what the program says of its options, a line `-o,--option KIND` for each. */
async function completeWords(program: Program, current: string, surroundings: Context): Promise<number> {
  const said = await (async () => program(['--help-completion'], surroundings))().catch((error: unknown) => {
    if (error instanceof Stop) return error.out
    throw error
  })
  const options = String(said)
    .split('\n')
    .flatMap((line) => {
      const [, names = '', kind] = /^(-\S+) (\S+)$/.exec(line) ?? []
      return names.split(',').map((name) => (name.startsWith('--') && kind !== 'none' ? `${name}=` : name))
    })
  for (const option of options) if (option !== '' && option.startsWith(current)) surroundings.out(`${option}\n`)
  return 0
}
