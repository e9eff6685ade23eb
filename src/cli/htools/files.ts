// Files that are named on the command line, with complaints in the words of Ganeti's programs.
import { whyNot } from '../../lib/why-not'
import { type Surroundings, Stop } from './surroundings'

/** Says why a file cannot be had. */
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
