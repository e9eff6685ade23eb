// gnt-cluster upgrade: switches the cluster, or some nodes, to another installed version of Gantry.
import { UpgradeFailure } from '../../bootstrap/upgrade/failure'
import { AWAITS_JOBS_S } from '../../model/limits/adoption'
import type { Call } from '../command'
import { CommandFailure, EXIT } from '../outcome'

export async function upgradeCluster(call: Call): Promise<number> {
  const { args, options, terminal, clock, run } = call
  const [to, isResumed] = [options.text('to'), options.flag('resume')]
  if (isResumed === (to !== undefined))
    throw new CommandFailure('Precisely one of the options --to and --resume has to be given')
  if (isResumed && args.length > 0)
    throw new CommandFailure('--resume goes on with the nodes that the upgrade began with')
  if (to !== undefined && !/^\d[a-z0-9+.-]*$/.test(to)) throw new CommandFailure(`Could not parse version string ${to}`)
  // Only this command loads it, so no other waits for it.
  const [service, survey, { nodeShell }, node] = await Promise.all([
    import('../../bootstrap/upgrade/upgrade.js'),
    import('../../bootstrap/adoption/inventory.js'),
    import('../../bootstrap/node-shell.js'),
    call.thisNode(),
  ])
  if (isResumed && (await service.isElsewhere(node))) {
    terminal.out('Nothing to do: another node is the master.')
    return EXIT.ok
  }
  const config = await survey.masterConfig(node)
  const upgrade = {
    ...{ paths: node.paths, disk: node.disk, lockFile: node.lockFile, nodes: node.nodes, clock, config },
    shell: nodeShell(node.paths, config.cluster, run),
    patience_s: options.number('timeout') ?? AWAITS_JOBS_S,
    pid: process.pid,
    say: (text: string) => terminal.out(text),
  }
  const work = () => (to === undefined ? service.resume(upgrade) : service.upgrade(upgrade, to, args))
  const outcome = await service.alone(node, work).catch((error: unknown) => {
    throw error instanceof UpgradeFailure ? new CommandFailure(error.message) : error
  })
  terminal.out(WORDS[outcome])
  return outcome === 'done, with problems' ? EXIT.failure : EXIT.ok
}

const WORDS = {
  'nothing to do': 'Nothing to do.',
  done: 'Done.',
  'done, with problems': 'Done, but gnt-cluster verify finds problems, as said above.',
}
