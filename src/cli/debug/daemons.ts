// gnt-debug wconfd: calls of the configuration daemon, which runs on the master beside luxid. Also gnt-debug metad.
import type { LockMode, LockName, Wconfd } from '../../rpc/wconfd/calls'
import type { Call } from '../command'
import { CommandFailure, EXIT } from '../outcome'

/** Ganeti's errors for a wrong number of arguments. */
const ARGUMENTS: Readonly<Record<string, readonly [count: number, takes: string]>> = {
  echo: [1, 'takes only precisely argument'],
  cleanuplocks: [0, 'takes no arguments'],
  listlocks: [1, 'takes precisely one argument'],
  listalllocks: [0, 'takes no arguments'],
  listalllocksowners: [0, 'takes no arguments'],
  flushconfig: [0, 'takes no arguments'],
}

export async function callWconfd(call: Call): Promise<number> {
  const { args, terminal, clock } = call
  const [name = '', ...given] = args
  const [count, takes] = ARGUMENTS[name] ?? []
  if (count === undefined)
    throw new CommandFailure(`Command '${name}' not supported; there are ${Object.keys(ARGUMENTS).join(', ')}`)
  if (given.length !== count) throw new CommandFailure(`Command '${name}' ${takes}.`)
  const [{ openWconfd }, { paths, random }] = await Promise.all([import('../../rpc/wconfd/client.js'), call.thisNode()])
  const wconfd = openWconfd({ path: paths.socket('wconfd'), clock, random, reconnect_s: 0 })
  const answer = (value: unknown) =>
    terminal.out(`Answer: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  try {
    if (name === 'echo') answer(await wconfd.echo(given[0] ?? ''))
    else if (name === 'listlocks') answer(locksOf(given[0] ?? '', await wconfd.listAllLocksOwners()))
    else if (name === 'listalllocks') answer(await wconfd.listAllLocks())
    else if (name === 'listalllocksowners') answer(await wconfd.listAllLocksOwners())
    else if (name === 'cleanuplocks') {
      await wconfd.cleanupLocks()
      terminal.out('Stale locks cleaned up.')
    } else {
      await wconfd.flushConfig()
      terminal.out('Configuration flushed.')
    }
  } finally {
    wconfd.close()
  }
  return EXIT.ok
}

export async function callMetad(call: Call): Promise<number> {
  const [name = '', ...given] = call.args
  if (name !== 'echo') throw new CommandFailure(`Command '${name}' not supported; there is echo`)
  const [text] = given
  if (text === undefined || given.length !== 1)
    throw new CommandFailure("Command 'echo' takes only precisely argument.")
  const [{ openMetad }, { paths }] = await Promise.all([import('../../rpc/metad/client.js'), call.thisNode()])
  const answer = await openMetad({ path: paths.socket('metad'), clock: call.clock }).echo(text)
  call.terminal.out(`Answer: ${answer}`)
  return EXIT.ok
}

type Owners = Awaited<ReturnType<Wconfd['listAllLocksOwners']>>

/** Finds owners by the job number alone. The rest of an owner is its live-lock's name, which no user remembers. */
function locksOf(job: string, all: Owners): [LockName, LockMode][] {
  if (!/^\d+$/.test(job)) throw new CommandFailure(`'${job}' is not the number of a job`)
  return all.flatMap(([lock, owners]) =>
    owners.filter(([[id]]) => String(id) === job).map(([, mode]): [LockName, LockMode] => [lock, mode]),
  )
}
