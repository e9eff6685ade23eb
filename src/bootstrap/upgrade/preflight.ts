// What the nodes of an upgrade have, before anything is changed.
import { eachBounded } from '../../lib/work/bounded'
import { LOOK_S, NODES_AT_ONCE } from '../../model/limits/upgrade'
import type { Node } from '../../model/node'
import type { Intent } from '../../model/upgrade-note'
import { shortList } from '../adoption/features'
import { conversionFor, type Conversion } from './conversion'
import { UpgradeFailure } from './failure'
import { onlineNodes, runOn, type UpgradeOptions } from './on-nodes'
import * as scripts from './scripts'

/** By their names, or the first parts of these. */
export function namedNodes(options: UpgradeOptions, names: readonly string[]): Node[] {
  const online = onlineNodes(options)
  return names.map((name) => {
    const node = online.find((one) => one.name === name) ?? online.find((one) => one.name.startsWith(`${name}.`))
    if (node === undefined) throw new UpgradeFailure(`There is no online node ${name} in this cluster`)
    return node
  })
}

/** All nodes read the configuration, so it cannot be converted for a part of them. */
export function refuseConversion({ nodes = [], to }: Intent, conversion: Conversion): void {
  if (conversion === undefined) return
  throw new UpgradeFailure(
    `Version ${to} needs another form of the configuration, so all nodes go over to it together: name none (${shortList(nodes)})`,
  )
}

/** The facts of each node. Rejects if one cannot be upgraded. */
export async function inspectNodes(
  options: UpgradeOptions,
  to: string,
  nodes: readonly Node[],
): Promise<Map<Node, scripts.Look>> {
  options.say(`Nodes are asked for version ${to}`)
  const found = new Map<Node, scripts.Look>()
  const [silent, lacking, broken]: string[][] = [[], [], []]
  let isGaneti = false
  await eachBounded(nodes, NODES_AT_ONCE, async (node) => {
    const { code, output } = await runOn(options, node, scripts.lookAt(to), LOOK_S)
    const look = scripts.readLook(output)
    found.set(node, look)
    if (code !== 0 && look.runs === undefined) silent?.push(`${node.name} (${output.trim()})`)
    else if (look.release === undefined) {
      lacking?.push(node.name)
      isGaneti ||= look.isGaneti
    } else if (!look.starts) broken?.push(node.name)
  })
  const problems = [
    ...listed(silent, (names) => `These nodes cannot be asked over SSH: ${names}; mend that, or set them offline with gnt-node modify -O yes`), // prettier-ignore
    ...listed(lacking, (names) => `Version ${to} is not there on ${names}: install the package gantry-${to} there first${isGaneti ? HINT : ''}`), // prettier-ignore
    ...listed(broken, (names) => `The programs of version ${to} do not start on ${names}: ${scripts.directoryOf(to)}/bin/gantryd.js --version says why`), // prettier-ignore
  ]
  if (problems.length > 0) throw new UpgradeFailure(problems.join('\n'))
  return found
}

const listed = (names: readonly string[] | undefined, text: (names: string) => string): string[] =>
  names === undefined || names.length === 0 ? [] : [text(shortList([...names].sort()))]

/** Ganeti may have been installed in that version, but we have no such package. */
const HINT = '. Ganeti takes the cluster back with gantry-adopt --back'

export function conversionOf({ config }: UpgradeOptions, found: ReadonlyMap<Node, scripts.Look>): Conversion {
  const releases = [...found.values()].flatMap(({ release }) => (release === undefined ? [] : [release]))
  const [first] = releases.map((release) => conversionFor(config.version, release))
  return first
}
