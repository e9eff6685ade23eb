// A separate program: `node metadata-relay.js SOCKET`. QEMU starts it for each connection of a guest with user-mode
// networking to the metadata address. It passes the connection to metad's socket for this guest.
import * as net from 'node:net'

/** The command for QEMU. The guest gets all its output, and must not see errors of the node. */
export const relayCommand = (socket: string): string[] => [
  ...['/bin/sh', '-c', 'exec "$0" "$@" 2>/dev/null'],
  ...[process.execPath, __filename, socket],
]

if (require.main === module) {
  const [, , path = ''] = process.argv
  const metad = net.connect(path)
  process.stdin.pipe(metad)
  metad.pipe(process.stdout)
  // The guest makes a new connection for its next request.
  metad.once('error', () => process.exit(1)).once('close', () => process.exit(0))
  process.stdout.once('error', () => process.exit(1))
}
