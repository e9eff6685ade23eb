// The parent of the node's daemons.
import { Supervisor } from '../daemons/node/supervisor'
import { systemClock as clock } from '../lib/clock'
import { claimAll } from '../model/owners'
import { PROGRAM, type Running, type Start } from './common/start'

export async function node({ paths, log, options }: Start): Promise<Running> {
  claimAll(paths.local)
  const bind = (options.bind ?? []).flatMap((address) => ['--bind', address])
  const votes = options.simulated || options['no-voting'] ? ['--no-voting', '--yes-do-it'] : []
  const simArgs = (['config', 'state', 'socket'] as const).flatMap((name) => {
    const value = options[name]
    return value === undefined ? [] : [`--${name}`, value]
  })
  const openReads = options['no-require-authentication'] ? ['--no-require-authentication'] : []
  const accessLog = ['--access-log', options.accessLog]
  const supervisor = new Supervisor({
    ...{ paths, clock, log, program: PROGRAM, simulated: options.simulated === true },
    args: {
      // Of a simulated cluster only the remote API has addresses.
      ...(options.simulated ? {} : { noded: bind }),
      sim: simArgs,
      wconfd: votes,
      luxid: votes,
      rapi: [...votes, ...(options.simulated ? bind : []), ...openReads, ...accessLog],
    },
    onEnd: (left) => {
      process.send?.({ left })
      process.kill(process.pid, 'SIGTERM')
    },
    onNotice: (text) => process.send?.({ notice: text }),
    onMaster: () => process.send?.({ master: true }),
  })
  process.on('message', (message) => {
    if (message === 'stop-master') void supervisor.stopMaster().then(() => process.send?.({ stopped: 'master' }))
  })
  await supervisor.start()
  return { close: () => supervisor.stop() }
}
