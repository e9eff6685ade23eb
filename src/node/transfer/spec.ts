// The input for the program of one transfer: which end of the stream it is, and where the data comes from or goes to.

/** Where the data of one disk is on this node. */
export type TransferEnd =
  | { readonly kind: 'file'; readonly path: string }
  /** A disk: written in place, never shortened. */
  | { readonly kind: 'device'; readonly path: string }
  /** A script of an OS definition, which writes the data to its output or reads it from its input. */
  | { readonly kind: 'script'; readonly path: string; readonly directory: string }

export interface TransferSpec {
  readonly mode: 'import' | 'export'
  /** Local path of a file with the key, and of one with its certificate. */
  readonly keyFile: string
  readonly certFile: string
  /** PEM of what has signed the other end's certificate. */
  readonly ca: string
  /** The importing end, for an export. */
  readonly host?: string
  readonly port?: number
  /** Where an import listens; all addresses when it is missing. */
  readonly bind?: string
  /** Name of a compression tool, or `none`. */
  readonly compress: string
  /** Sent before the data, so that a stream cannot end up in the wrong disk. */
  readonly magic?: string
  readonly end: TransferEnd
  /** Lends the file of the disk as long as the transfer goes on. */
  readonly lender?: { readonly socket: string; readonly minor: number }
  /** MiB; `script` when the script tells it. */
  readonly expectedSize?: number | 'script'
  readonly connectTimeout_s: number
  /** How often an export tries again. */
  readonly connectRetries: number
  /** The script's whole environment. */
  readonly env: Readonly<Record<string, string>>
}
