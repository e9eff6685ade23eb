// `npm start -- --take-files NODE`: the copies of the configuration disagree, and a person has said whose is right. The
// master gets that node's files, and keeps its own.
import { readConfig } from '../config/store-files'
import { quarantine } from '../lib/file/quarantine'
import { createLog } from '../lib/log'
import { systemClock as clock } from '../lib/clock'
import { systemRandom as random } from '../lib/random'
import { SET_ASIDE_MAX } from '../model/limits/daemons'
import { ownedDisk as disk, ownedLogFile } from '../model/owners'
import { fold } from '../start/fold'
import { nodePaths, type Settings } from './layout'
import { UsageError } from './options'

export async function takeFilesOf(
  input: string,
  root: string,
  { nodes }: Pick<Settings, 'nodes'>,
  say: (text: string) => void,
): Promise<void> {
  const node = nodes.find(({ name }) => name === input || name.startsWith(`${input}.`))
  const [master] = nodes
  if (node === undefined || master === undefined)
    throw new UsageError(`--take-files needs one of ${nodes.map(({ name }) => name).join(', ')}, not '${input}'`)
  const paths = nodePaths(root, master.name)
  if (node !== master) {
    const from = nodePaths(root, node.name)
    const files = [
      [from.configFile, paths.configFile],
      [from.gantryFile, paths.gantryFile],
      [from.journalFile, paths.journalFile],
    ] as const
    const config = await readConfig({ disk, paths: from, random })
    if (config === undefined) throw new UsageError(`${node.name} has no copy of the configuration`)
    const named = config.nodes[config.cluster.master_node]?.name
    if (named !== master.name)
      throw new UsageError(`the copy of ${node.name} is of another time: it names ${named ?? 'nobody'} as the master`)
    for (const [copy, own] of files) {
      const content = await disk.read(copy)
      if ((await disk.read(own)) !== undefined)
        say(`kept as ${await quarantine(own, 'rejected', { disk, clock, most: SET_ASIDE_MAX })}`)
      if (content !== undefined) await disk.write(own, content)
    }
  }
  await fold(paths, createLog('fold', { file: ownedLogFile(paths.logFile('fold')) }), true)
  say(`the cluster goes on with the configuration of ${node.name}`)
}
