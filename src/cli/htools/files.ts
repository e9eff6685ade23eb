// Files named on the command line, with the errors of Ganeti's programs.
import { whyNot } from '../../lib/text/why-not'
import { type Surroundings, Stop } from './surroundings'

/** Says why a file is unreadable. */
export function readFile(surroundings: Surroundings, file: string, complain: (text: string) => Error): string {
  try {
    return surroundings.read(file)
  } catch (error) {
    throw complain(whyNot(file, error))
  }
}

export function writeFile(surroundings: Surroundings, program: string, file: string, text: string): void {
  try {
    surroundings.write(file, text)
  } catch (error) {
    throw new Stop(1, '', `${program}: ${whyNot(file, error)}\n`)
  }
}
