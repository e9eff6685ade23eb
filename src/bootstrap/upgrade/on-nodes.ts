// The nodes of an upgrade, and how scripts are run on some of them.
import type { Clock } from '../../lib/clock'
import type { LockFile } from '../../lib/file/lock'
import { eachBounded } from '../../lib/work/bounded'
import type { Disk } from '../../lib/disk'
import type { Paths } from '../../lib/paths'
import { errorText } from '../../lib/system-failure'
import type { ConfigData } from '../../model/config'
import { LOOK_S, NODES_AT_ONCE } from '../../model/limits/upgrade'
import type { Node } from '../../model/node'
import type { NodeClient } from '../../rpc/node/client'
import { nodesInOrder, placeOf } from '../adoption/inventory'
import type { NodeShell } from '../node-shell'
import { UpgradeFailure } from './failure'

export interface UpgradeOptions {
  readonly paths: Paths
  readonly disk: Disk
  readonly clock: Clock
  readonly lockFile?: LockFile
  readonly config: ConfigData
  readonly shell: NodeShell
  readonly nodes: NodeClient
  /** How long to wait for running jobs. */
  readonly patience_s: number
  /** This process's pid, for people who find the note of an upgrade. */
  readonly pid: number
  say(text: string): void
}

export const onlineNodes = ({ config }: UpgradeOptions): Node[] =>
  nodesInOrder(config).filter(({ offline }) => !offline)

export const masterOf = ({ config }: UpgradeOptions): Node => {
  const [master] = nodesInOrder(config)
  if (master === undefined) throw new UpgradeFailure('The configuration has no node')
  return master
}

export function split(options: UpgradeOptions, desired: readonly Node[]) {
  const { uuid } = masterOf(options)
  return { master: desired.filter((node) => node.uuid === uuid), others: desired.filter((node) => node.uuid !== uuid) }
}

export const runOn = ({ shell, config }: UpgradeOptions, node: Node, script: string, timeout_s: number) =>
  shell
    .run(placeOf(config, node), script, timeout_s)
    .catch((error: unknown) => ({ code: null, output: errorText(error) }))

export async function onMaster(options: UpgradeOptions, script: string, timeout_s = LOOK_S): Promise<string> {
  const { code, output } = await runOn(options, masterOf(options), script, timeout_s)
  if (code === 0) return output
  throw new Error(`On the master, ${firstLine(script)} ended with ${code ?? 'no answer'}: ${output.trim()}`)
}

/** Rejects only when all have ended. */
export async function onAll(
  options: UpgradeOptions,
  nodes: readonly Node[],
  script: string,
  what: string,
  timeout_s: number,
): Promise<void> {
  const failed = await runAll(options, nodes, script, timeout_s)
  const names = [...failed].map(([{ name }, why]) => `${name} (${why})`)
  if (names.length > 0) throw new Error(`Could not ${what} on ${names.sort().join(', ')}`)
}

/** Returns the reasons of failures by node. */
export async function runAll(options: UpgradeOptions, nodes: readonly Node[], script: string, timeout_s: number) {
  const failed = new Map<Node, string>()
  await eachBounded(nodes, NODES_AT_ONCE, async (node) => {
    const { code, output } = await runOn(options, node, script, timeout_s)
    if (code !== 0) failed.set(node, output.trim() || `it ended with ${code ?? 'no answer'}`)
  })
  return failed
}

const firstLine = (script: string): string => script.trim().split('\n')[0] ?? ''
