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
  const answer = await askWconfd(call)
  const displayed = typeof answer === 'string' ? answer : JSON.stringify(answer)
  call.terminal.out(answer === undefined ? (DONE[call.args[0] ?? ''] ?? '') : `Answer: ${displayed}`)
  return EXIT.ok
}

/** What there is to say after calls that answer nothing. */
const DONE: Readonly<Record<string, string>> = {
  cleanuplocks: 'Stale locks cleaned up.',
  flushconfig: 'Configuration flushed.',
}

export const wconfdData = async (call: Call): Promise<unknown> => (await askWconfd(call)) ?? null

async function askWconfd({ args, thisNode, clock }: Call): Promise<unknown> {
  const [name = '', ...input] = args
  const [count, takes] = ARGUMENTS[name] ?? []
  if (count === undefined)
    throw new CommandFailure(`Command '${name}' not supported; there are ${Object.keys(ARGUMENTS).join(', ')}`)
  if (input.length !== count) throw new CommandFailure(`Command '${name}' ${takes}.`)
  const [{ openWconfd }, { paths, random }] = await Promise.all([import('../../rpc/wconfd/client.js'), thisNode()])
  const wconfd = openWconfd({ path: paths.socket('wconfd'), clock, random, reconnect_s: 0 })
  try {
    if (name === 'echo') return await wconfd.echo(input[0] ?? '')
    if (name === 'listlocks') return locksOf(input[0] ?? '', await wconfd.listAllLocksOwners())
    if (name === 'listalllocks') return await wconfd.listAllLocks()
    if (name === 'listalllocksowners') return await wconfd.listAllLocksOwners()
    if (name === 'cleanuplocks') await wconfd.cleanupLocks()
    else await wconfd.flushConfig()
    return undefined
  } finally {
    wconfd.close()
  }
}

export async function callMetad(call: Call): Promise<number> {
  call.terminal.out(`Answer: ${await metadData(call)}`)
  return EXIT.ok
}

export async function metadData(call: Call): Promise<string> {
  const [name = '', ...input] = call.args
  if (name !== 'echo') throw new CommandFailure(`Command '${name}' not supported; there is echo`)
  const [text] = input
  if (text === undefined || input.length !== 1)
    throw new CommandFailure("Command 'echo' takes only precisely argument.")
  const [{ openMetad }, { paths }] = await Promise.all([import('../../rpc/metad/client.js'), call.thisNode()])
  return openMetad({ path: paths.socket('metad'), clock: call.clock }).echo(text)
}

type Owners = Awaited<ReturnType<Wconfd['listAllLocksOwners']>>

/** Finds owners by the job number alone. The rest of an owner is its live-lock's name, which no user remembers. */
function locksOf(job: string, all: Owners): [LockName, LockMode][] {
  if (!/^\d+$/.test(job)) throw new CommandFailure(`'${job}' is not the number of a job`)
  return all.flatMap(([lock, owners]) =>
    owners.filter(([[id]]) => String(id) === job).map(([, mode]): [LockName, LockMode] => [lock, mode]),
  )
}
