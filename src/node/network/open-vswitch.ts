// A switch of Open vSwitch on this node, maybe joined to a network device.
import type { Run } from '../../lib/run-command'
import { fail } from '../context'
import { checkInterfaceName } from './addresses'

export async function configureOpenvSwitch(run: Run, name: string, link: string | null): Promise<void> {
  const joined = link !== null && link !== ''
  for (const interfaceName of [name, ...(joined ? [link] : [])]) checkInterfaceName(interfaceName)
  await vsctl(run, ['add-br', name], 'create openvswitch')
  if (joined) await vsctl(run, ['add-port', name, link], `connect openvswitch to interface ${link}`)
}

async function vsctl(run: Run, args: readonly string[], what: string): Promise<void> {
  const { code, output } = await run(['ovs-vsctl', '--may-exist', ...args])
  if (code !== 0) fail(`Failed to ${what}. Script return value: ${code}, output: '${output.trim()}'`)
}
