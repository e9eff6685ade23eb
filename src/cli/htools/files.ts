// Files that are named on the command line, with complaints in the words of Ganeti's programs.
import { whyNot } from '../../lib/why-not'
import { type Terminal, Stop } from './terminal'

/** Says why a file cannot be had. */
export function readFile(terminal: Terminal, file: string, complain: (text: string) => Error): string {
  try {
    return terminal.read(file)
  } catch (error) {
    throw complain(whyNot(file, error))
  }
}

export function writeFile(terminal: Terminal, program: string, file: string, text: string): void {
  try {
    terminal.write(file, text)
  } catch (error) {
    throw new Stop(1, '', `${program}: ${whyNot(file, error)}\n`)
  }
}
