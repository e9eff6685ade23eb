// A program of its own: `node metadata-relay.js SOCKET`. QEMU starts it for each connection that a guest with user-mode networking makes
// to the metadata address, and it hands that on to the socket where metad listens for this guest.
import * as net from 'node:net'

/** What QEMU runs. The guest gets all output of the program, and is to see no errors of the node. */
export const relayCommand = (socket: string): string[] => [
  ...['/bin/sh', '-c', 'exec "$0" "$@" 2>/dev/null'],
  ...[process.execPath, __filename, socket],
]

if (require.main === module) {
  const [, , path = ''] = process.argv
  const metad = net.connect(path)
  process.stdin.pipe(metad)
  metad.pipe(process.stdout)
  // The guest makes a new connection when it wants to ask again.
  metad.once('error', () => process.exit(1)).once('close', () => process.exit(0))
  process.stdout.once('error', () => process.exit(1))
}
