// gnt-debug confd: asks the master candidates about the configuration, over confd's usual wire.
import type { Call } from '../command'
import { CommandFailure, EXIT } from '../outcome'
import { PORT } from '../../model/constants/daemons'
import type { CandidateReply } from '../../rpc/confd/client'
import { CONFD, CONFD_STATUS, type ConfdQuestion } from '../../rpc/confd/protocol'

interface Asking {
  readonly question: ConfdQuestion
  /** The names of its arguments; optional ones in brackets. */
  readonly takes: readonly string[]
  query?(first: string | undefined, second: string | undefined): unknown
}

const first = (one: string | undefined): unknown => one ?? null

const QUESTIONS: Readonly<Record<string, Asking>> = {
  ping: { question: CONFD.ping, takes: [] },
  master: { question: CONFD.clusterMaster, takes: [] },
  noderole: { question: CONFD.nodeRole, takes: ['NODE'], query: first },
  nodeips: { question: CONFD.nodeIps, takes: [] },
  candidateips: { question: CONFD.candidateIps, takes: [] },
  instanceips: { question: CONFD.instanceIps, takes: ['[LINK]'], query: first },
  nodeofip: {
    question: CONFD.nodeOfInstanceIp,
    takes: ['IP', '[LINK]'],
    query: (ip, link) => ({ 0: link ?? null, 1: ip }),
  },
  nodedrbd: { question: CONFD.nodeDrbd, takes: ['NODE'], query: first },
  nodeinstances: { question: CONFD.nodeInstances, takes: ['NODE'], query: first },
  instancedisks: { question: CONFD.instanceDisks, takes: ['INSTANCE'], query: first },
  config: { question: CONFD.configQuery, takes: ['POINTER'], query: first },
  collectors: { question: CONFD.dataCollectors, takes: [] },
}

/** The answers of the candidates that gave one. */
export async function confdData(call: Call): Promise<readonly CandidateReply[]> {
  return (await askAll(call)).replies
}

export async function askConfd(call: Call): Promise<number> {
  const { replies, disagreement } = await askAll(call)
  const [believed, ...others] = replies
  if (believed === undefined) throw new CommandFailure('No master candidate answered')
  const text = disagreement(believed, others)
  if (text !== undefined) call.terminal.err(`Warning: ${text}`)
  const answer = JSON.stringify(believed.answer)
  if (believed.status !== CONFD_STATUS.ok) throw new CommandFailure(`confd answered with an error: ${answer}`)
  call.terminal.out(`Answer: ${answer}`)
  return EXIT.ok
}

async function askAll(call: Call) {
  const { question, query } = requested(call.args)
  const [{ ConfdClient, disagreement }, { paths, disk, random }] = await Promise.all([
    import('../../rpc/confd/client.js'),
    call.thisNode(),
  ])
  const text = async (file: string) => (await disk.read(file))?.toString('utf8') ?? ''
  const key = await text(paths.hmacKey)
  if (key === '') throw new CommandFailure(`There is no key at ${paths.hmacKey}: this is no node of a cluster`)
  const servers = (await text(paths.ssconf('master_candidates_ips'))).split('\n').filter((line) => line !== '')
  const { clock, terminal } = call
  const warn = (line: string) => terminal.err(line)
  const client = new ConfdClient({ key, servers, port: PORT.confd, clock, random, warn })
  return { replies: await client.askAll(question, query), disagreement }
}

function requested([name = '', ...input]: readonly string[]): { question: ConfdQuestion; query: unknown } {
  const known = Object.hasOwn(QUESTIONS, name) ? QUESTIONS[name] : undefined
  if (known === undefined)
    throw new CommandFailure(`Question '${name}' not supported; there are ${Object.keys(QUESTIONS).join(', ')}`)
  const { question, takes, query } = known
  const needed = takes.filter((one) => !one.startsWith('[')).length
  if (input.length < needed || input.length > takes.length)
    throw new CommandFailure(`Question '${name}' takes ${takes.length === 0 ? 'no arguments' : takes.join(' ')}.`)
  return { question, query: query?.(input[0], input[1]) ?? null }
}
