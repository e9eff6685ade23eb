// The input of a transfer's program: which end of the stream it is, and the data's source or destination.

/** The place of a disk's data on this node. */
export type TransferEnd =
  | { readonly kind: 'file'; readonly path: string }
  /** A disk: written in place, never shortened. */
  | { readonly kind: 'device'; readonly path: string }
  /** An OS script, which writes the data to its output or reads it from its input. */
  | { readonly kind: 'script'; readonly path: string; readonly directory: string }

export interface TransferSpec {
  readonly mode: 'import' | 'export'
  /** Local paths of the files with the key and with its certificate. */
  readonly keyFile: string
  readonly certFile: string
  /** PEM of the certificate that has signed the other end's. */
  readonly ca: string
  /** The importing end, for an export. */
  readonly host?: string
  readonly port?: number
  /** The address of an import; all addresses if missing. */
  readonly bind?: string
  /** Name of a compression tool, or `none`. */
  readonly compress: string
  /** Sent before the data, so that a stream cannot end up in the wrong disk. */
  readonly magic?: string
  readonly end: TransferEnd
  /** Lends the file of the disk during the transfer. */
  readonly lender?: { readonly socket: string; readonly minor: number }
  /** MiB; `script` if the script tells it. */
  readonly expectedSize?: number | 'script'
  readonly connectTimeout_s: number
  /** How often an export tries again. */
  readonly connectRetries: number
  /** The file with all that the programs say, as users name it. */
  readonly log: string
  /** The script's whole environment. */
  readonly env: Readonly<Record<string, string>>
}
