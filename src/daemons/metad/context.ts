// What the controllers of this door get.
import type { Guest } from './instances'

export interface MetadContext {
  /** The instance that asks. */
  readonly guest: Guest
  readonly node: NodeFiles
}

/** Files of the node that guests may read. Each resolves to undefined if it does not exist. */
export interface NodeFiles {
  /** A script of the OS definition of an instance. */
  script(os: string, name: string): Promise<string | undefined>
  /** The file that an OS parameter names, but only if noded made it for an installation. */
  installPackage(file: string): Promise<string | undefined>
}

/** An answer that is a text with its own type. */
export class Plain {
  constructor(
    readonly text: string,
    readonly type: string,
  ) {}
}

/** An answer that is a file of the node. */
export class Download {
  constructor(
    readonly file: string,
    readonly type: string,
  ) {}
}

/** For the compiler it is the text that is sent. */
export const asText = (answer: Plain | Download): string => answer as unknown as string
