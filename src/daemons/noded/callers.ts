// Who may call: master candidates, by the digests of their client certificates. Checked for each call, so that a
// demoted node is refused at once, on open connections too.
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { fileVersion } from '../../lib/file/file-version'
import type { Files } from '../../lib/files'
import { certificateDigest } from '../../lib/tls'
import type { NodeContext } from '../../node/context'
import { type CallName, callOf } from '../../rpc/node/calls'

/**
 * The certificate that the caller has shown. Parsing it costs as much as a short call, so it is parsed once per
 * connection.
 */
interface Shown {
  readonly digest: string
  readonly name: string
}

const displayed = new WeakMap<TLSSocket, Shown>()

function shownBy(socket: TLSSocket): Shown {
  const known = displayed.get(socket)
  if (known !== undefined) return known
  const { fingerprint, subject } = socket.getPeerCertificate()
  const read = { digest: fingerprint, name: String(subject.CN) }
  displayed.set(socket, read)
  return read
}

export function callerCheck({ ssconf, paths, files, log }: NodeContext): (socket: Socket) => boolean {
  const clusterDigest = cachedDigest(files, paths.serverCert)

  return (socket) => {
    if (!(socket instanceof TLSSocket) || !socket.authorized) return false
    const { digest } = shownBy(socket)
    const candidates = ssconf.lines('master_candidates_certs')
    // Before the first list arrives, a node obeys every caller with the cluster's own key.
    const accepted =
      candidates.length === 0
        ? digest === clusterDigest()
        : candidates.some((line) => line.slice(line.indexOf('=') + 1) === digest)
    if (!accepted) log.warn({ digest, peer: socket.remoteAddress }, 'a caller that is no master candidate was refused')
    return accepted
  }
}

/**
 * Why the node refuses this call from this caller; undefined if it accepts. Our client certificates have the names of
 * their nodes. Ganeti's all have the same name, which says nothing.
 */
export function foreignMaster({ ssconf, hostname }: NodeContext, name: CallName, socket: Socket): string | undefined {
  if (callOf(name).masterOnly !== true || !(socket instanceof TLSSocket)) return undefined
  const master = ssconf.value('master_node')
  const caller = shownBy(socket).name
  if (!master || caller === master || !ssconf.lines('node_list').includes(caller)) return undefined
  return `${hostname} takes this only from the master, which is ${master} and not ${caller}`
}

function cachedDigest(files: Files, file: string): () => string {
  let known: { stamp: string | undefined; digest: string } | undefined
  return () => {
    const stamp = fileVersion(files, file)
    if (known === undefined || known.stamp !== stamp)
      known = { stamp, digest: certificateDigest(files.readFileSync(file)) }
    return known.digest
  }
}
