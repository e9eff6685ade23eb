// `hsqueeze`: which nodes a cluster without disks of its own can do without, or which of those that stand by it needs.
import type { ClusterModel } from '../../allocation/cluster-model'
import {
  STANDBY_TAG,
  type Squeezed,
  everyNodeTakes,
  nodesToOffline,
  nodesToOnline,
  offlineCandidates,
  onlineCandidates,
  spareInstance,
  switchNodes,
} from '../../allocation/squeeze'
import { showCommands } from './commands'
import { commandsText, jobOf, jobSets } from './hbal-jobs'
import { loadModel, saveData, savedData } from './load'
import { has, numberOf, parseOptions, verbosity } from './options'
import { type Terminal, failure } from './terminal'

const OPTIONS =
  'text-data minimal-resources target-resources save print-commands verbose no-headers static-kvm-node-memory version help'

export async function hsqueeze(args: readonly string[], terminal: Terminal): Promise<number> {
  const options = parseOptions('hsqueeze', OPTIONS.split(' '), args)
  if (options.rest.length > 0) throw failure("This program doesn't take any arguments.")
  const factor = (name: string) => numberOf(options, name, 'target resources') ?? 2
  const [minimal, target] = [factor('minimal-resources'), factor('target-resources')]
  const model = await loadModel(options, terminal)
  const { data } = model
  saveData(options, terminal, 'original', 'before hsqueeze run', data)
  const [off, on] = [offlineCandidates(data), onlineCandidates(data)]
  const names = (nodes: readonly number[]) => nodes.map((node) => data.nodes[node]?.name ?? '')
  const verbose = verbosity(options) > 1
  if (verbose) {
    terminal.out(`Offline candidates: ${names(off).join(',')}\nOnline candidates: ${names(on).join(',')}\n`)
  }
  const show = (title: string, nodes: readonly number[]) => {
    if (!has(options, 'no-headers')) terminal.out(`'${title}'\n`)
    terminal.out(
      names(nodes)
        .map((name) => `${name}\n`)
        .join(''),
    )
  }
  const finish = (commands: string, result: ClusterModel, when: string) => {
    showCommands('Commands to run:', commands, options, terminal)
    saveData(options, terminal, 'squeezed', `after hsqueeze ${when}`, savedData(result))
  }
  const spare = spareInstance(data.policy.standard, minimal)
  if (!everyNodeTakes(model, spare)) {
    const enough = nodesToOnline(data, on, spare)
    const nodes = enough ?? on
    show('Nodes to online', nodes)
    if (verbose && enough === undefined) terminal.out('Onlining all nodes will not yield enough capacity\n')
    const squeezed = switchNodes(data, nodes, false)
    finish(powerText(model, nodes, 'on') + movesText(squeezed), squeezed.model, 'expansion')
    return 0
  }
  const nodes = nodesToOffline(data, off, spareInstance(data.policy.standard, target))
  if (nodes.length === 0) {
    show('No action', [])
    finish('echo Nothing to do\n', model, 'doing nothing')
    return 0
  }
  show('Nodes to offline', nodes)
  const squeezed = switchNodes(data, nodes, true)
  const tags = nodes.map((node) => `  gnt-node add-tags ${model.nodes[node]?.alias} ${STANDBY_TAG}\n`)
  const commands = `${movesText(squeezed)}\necho Tagging Commands\n${tags.join('')}\n${powerText(model, nodes, 'off')}`
  finish(commands, squeezed.model, 'run')
  return 0
}

const movesText = ({ model, steps }: Squeezed): string =>
  commandsText(jobSets(steps.map((step) => jobOf(model, step, model.data.instances[step.move.instance]?.name ?? ''))))

const powerText = (model: ClusterModel, nodes: readonly number[], state: 'on' | 'off'): string =>
  `echo Power Commands\n${nodes.map((node) => `  gnt-node power -f ${state} ${model.nodes[node]?.alias}\n`).join('')}`
