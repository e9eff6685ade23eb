// Sets up the cluster's address on the master node: by the administrator's script, by Ganeti's if it is installed, or
// directly.
import type { Run } from '../../lib/programs/run-command'
import { PATH } from '../../model/constants/paths'
import { isLoopback, versionOf } from '../../model/ip'
import { MASTER_ADDRESS_SCRIPT_S } from '../../model/limits/node'
import type { MasterParams } from '../../rpc/node/dicts'
import type { NodeContext } from '../context'
import { fail } from '../failure'
import { runHooks } from '../hooks'
import { NO_SOURCE, checkInterfaceName, ip, setAddress } from './addresses'

export async function changeMasterIp(
  context: NodeContext,
  action: 'start' | 'stop',
  params: MasterParams,
  external: boolean,
): Promise<void> {
  const hooks = action === 'start' ? 'master-ip-turnup' : 'master-ip-turndown'
  const env = {
    MASTER_NETDEV: params.netdev,
    MASTER_IP: params.ip,
    MASTER_NETMASK: String(params.netmask),
    CLUSTER_IP_VERSION: String(versionOf(params.ip_family)),
  }
  const hookEnv = Object.fromEntries(Object.entries(env).map(([name, value]) => [`GANETI_${name}`, value]))
  const refused = (await runHooks(context, hooks, 'pre', hookEnv)).find(([, code]) => code === 1)
  if (refused) fail(`Hook ${refused[0]} failed: ${refused[2]}`)
  const script = scriptFor(context, external)
  if (script !== undefined) await runScript(context.run, script, action, env)
  else await setAddress(context, action === 'start' ? 'add' : 'del', params.ip, params.netmask, params.netdev)
  await runHooks(context, hooks, 'post', hookEnv)
}

export async function changeMasterNetmask(
  context: NodeContext,
  oldNetmask: number,
  netmask: number,
  address: string,
  device: string,
): Promise<void> {
  checkInterfaceName(device)
  if (oldNetmask === netmask || isLoopback(address)) return
  // Adds the new entry first, because the master would be unreachable for a moment without an address.
  await ip(context.run, ['address', 'add', `${address}/${netmask}`, 'dev', device, ...NO_SOURCE])
  await ip(context.run, ['address', 'del', `${address}/${oldNetmask}`, 'dev', device])
  context.log.info({ address, netmask }, 'the netmask of the cluster address was changed')
}

function scriptFor(context: NodeContext, external: boolean): string | undefined {
  const local = context.paths.local(external ? PATH.EXTERNAL_MASTER_SETUP_SCRIPT : PATH.DEFAULT_MASTER_SETUP_SCRIPT)
  if (context.files.existsSync(local)) return local
  return external ? fail(`The script ${PATH.EXTERNAL_MASTER_SETUP_SCRIPT} does not exist on this node`) : undefined
}

async function runScript(run: Run, script: string, action: string, env: Record<string, string>): Promise<void> {
  const { code, output } = await run([script, action], { env, timeout_s: MASTER_ADDRESS_SCRIPT_S })
  const verb = action === 'start' ? 'activate' : 'deactivate'
  if (code !== 0) fail(`Failed to ${verb} the cluster address ${env['MASTER_IP']}: ${output.trim()}`)
}
