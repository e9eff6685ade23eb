// Copies files and runs commands on many nodes: over SSH, or directly in the folders of virtual nodes on this machine.
import { isIPv6 } from 'node:net'
import * as path from 'node:path'
import { errorCode } from '../../lib/disk'
import type { Files } from '../../lib/files'
import { inheritedEnvironment } from '../../lib/environment'
import { errorText } from '../../lib/system-failure'
import { ECODE, OpPrereqError } from '../../model/errors'
import { NODE_COMMAND_S } from '../../model/limits/ssh'
import type { Call } from '../command'
import { CommandFailure, EXIT } from '../outcome'
import { namesFilter } from '../input/filter-text'
import { clusterSshOptions } from '../ssh'
import { firstArgument } from '../submit/submit'

interface Target {
  readonly name: string
  readonly primaryIp: string
  readonly secondaryIp: string
  readonly port: number
}

/** As in Ganeti, a node that the copy does not reach is named, but the command succeeds. */
export async function copyFile(call: Call): Promise<number> {
  const { options, terminal, master } = call
  const file = path.resolve(firstArgument(call))
  const stat = await call.files.stat(file).catch(() => undefined)
  if (stat === undefined) throw new OpPrereqError(`No such filename '${file}'`, ECODE.INVAL)
  const [cluster, own] = (await master.queryConfigValues(['cluster_name', 'master_node'])).map(String)
  const targets = await onlineNodes(call, call.options.list('nodes') ?? [], ['!', ['?', 'master']])
  for (const { name, primaryIp, secondaryIp, port } of targets) {
    const bySecond = options.flag('use_replication_network')
    const to = bySecond ? secondaryIp : name
    const reach = { port, quiet: true, ipv6: !bySecond && isIPv6(primaryIp) }
    const problem = !stat.isFile()
      ? 'it is not a file'
      : call.nodesRoot === undefined
        ? await copyOverSsh(call, [...clusterSshOptions(cluster ?? '', reach), file, `${to}:${file}`])
        : await copyToVirtualNode(call.files, call.nodesRoot, own ?? '', name, file)
    if (problem !== undefined) terminal.err(`Copy of file ${file} to node ${to}:${port} failed: ${problem}`)
  }
  return EXIT.ok
}

async function copyOverSsh({ run }: Call, args: readonly string[]): Promise<string | undefined> {
  const { code, output } = await run(['scp', '-p', ...args], { env: inheritedEnvironment(), timeout_s: NODE_COMMAND_S })
  return code === 0 ? undefined : output.trim() || `scp ended with ${code}`
}

/** A file in the master's own tree goes to the same place in the other's. Other files keep their whole path there. */
async function copyToVirtualNode(
  files: Files,
  root: string,
  master: string,
  node: string,
  file: string,
): Promise<string | undefined> {
  const below = path.relative(path.join(root, master), file)
  const target = path.join(root, node, below.startsWith('..') ? file : below)
  try {
    await files.access(path.join(root, node))
    await files.mkdir(path.dirname(target), { recursive: true })
    await files.copyFile(file, target)
    const { mode, atime, mtime } = await files.stat(file)
    await files.chmod(target, mode)
    await files.utimes(target, atime, mtime)
    return undefined
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    return errorText(error)
  }
}

/** The words form one line for each node's shell, as after `ssh`. The master comes last. */
export async function runOnNodes(call: Call): Promise<number> {
  const { options, terminal, args, master } = call
  const [cluster, own] = (await master.queryConfigValues(['cluster_name', 'master_node'])).map(String)
  const line = args.join(' ')
  const targets = await onlineNodes(call, call.options.list('nodes') ?? [])
  const isMaster = ({ name }: Target) => name === own
  for (const target of [...targets.filter((one) => !isMaster(one)), ...targets.filter(isMaster)]) {
    const { code, output } = await runOn(call, cluster ?? '', target, line)
    if (options.flag('failure_only') && code === 0) continue
    terminal.out('------------------------------------------------')
    if (options.flag('show_machine_names')) {
      const lines = output.replace(/\n$/, '')
      if (output !== '') for (const text of lines.split('\n')) terminal.out(`${target.name}: ${text}`)
    } else {
      terminal.out(`node: ${target.name}`)
      terminal.out(output)
    }
    terminal.out(`return code = ${code ?? 'None'}`)
  }
  return EXIT.ok
}

function runOn({ run, nodesRoot }: Call, cluster: string, { name, primaryIp, port }: Target, line: string) {
  const env = inheritedEnvironment()
  if (nodesRoot === undefined)
    return run(
      ['ssh', ...clusterSshOptions(cluster, { port, quiet: true, ipv6: isIPv6(primaryIp) }), `root@${name}`, line],
      { env, timeout_s: NODE_COMMAND_S },
    )
  const cwd = path.join(nodesRoot, name)
  const own = { GANETI_ROOTDIR: cwd, GANETI_HOSTNAME: name }
  return run(['/bin/sh', '-c', line], { cwd, env: { ...env, ...own }, timeout_s: NODE_COMMAND_S })
}

/** The named nodes, or all, that are in the requested group. */
export async function onlineNodes(
  { master, options, terminal }: Call,
  names: readonly string[],
  more?: unknown[],
): Promise<Target[]> {
  const group = options.text('nodegroup')
  // For a query by names alone, the master reports unknown names.
  if (names.length > 0) await master.query('node', ['name'], namesFilter('name', names))
  const filters = [
    ...(names.length > 0 ? [namesFilter('name', names)] : []),
    ...(group === undefined ? [] : [['|', ['=', 'group', group], ['=', 'group.uuid', group]]]),
    ...(more === undefined ? [] : [more]),
  ]
  const fields = ['name', 'offline', 'sip', 'ndp/ssh_port', 'pip']
  const { data } = await master.query('node', fields, filters.length === 0 ? null : ['&', ...filters])
  const rows = data.map((row) => row.map((cell) => cell[1]))
  if (rows.length === 0)
    throw new CommandFailure(
      `There is no such node${group === undefined ? '' : ` in group '${group}'`}; gnt-node list shows those of the cluster`,
    )
  const offline = rows.filter(([, isOffline]) => isOffline === true).map(([name]) => String(name))
  if (offline.length > 0) terminal.err(`Note: skipping offline node(s): ${offline.join(', ')}`)
  return rows
    .filter(([, isOffline]) => isOffline !== true)
    .map(([name, , sip, port, pip]) => {
      return { name: String(name), primaryIp: String(pip), secondaryIp: String(sip), port: Number(port) }
    })
}
