// The connection file for SPICE viewers such as remote-viewer.
import type { components } from '../../api/schema'

export function spiceFile(instance: string, { host, port, tls, ca }: components['schemas']['SpiceView']): string {
  const lines = [
    '[virt-viewer]',
    'type=spice',
    `title=${instance}`,
    `host=${host}`,
    tls ? `tls-port=${port}` : `port=${port}`,
    ...(ca === null ? [] : [`ca=${ca.trim().replaceAll('\n', '\\n')}\\n`]),
    'delete-this-file=1',
  ]
  return `${lines.join('\n')}\n`
}
