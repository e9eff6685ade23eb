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
import { Stop, type Surroundings } from './surroundings'

const PROGRAMS: Readonly<
  Record<string, (args: readonly string[], surroundings: Surroundings) => number | Promise<number>>
> = {
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

/** Runs a program and returns its exit code, synchronously if the program asks no daemon. */
export function runHtool(name: string, args: readonly string[], surroundings: Surroundings): number | Promise<number> {
  const program = Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined
  if (program === undefined) {
    surroundings.err(`${name}: there is no such program; there are ${Object.keys(PROGRAMS).join(', ')}\n`)
    return 1
  }
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
