// Files named on the command line, with the errors of Ganeti's programs.
import { whyNot } from '../../lib/text/why-not'
import { type Context, Stop } from './context'

/** Says why a file is unreadable. */
export function readFile(surroundings: Context, file: string, complain: (text: string) => Error): string {
  try {
    return surroundings.read(file)
  } catch (error) {
    throw complain(whyNot(file, error))
  }
}

export function writeFile(surroundings: Context, program: string, file: string, text: string): void {
  try {
    surroundings.write(file, text)
  } catch (error) {
    throw new Stop(1, '', `${program}: ${whyNot(file, error)}\n`)
  }
}
