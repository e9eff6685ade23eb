// Whether the node needs a repair, as an administrator's program sees it. maintd acts on it.
import { isMissing } from '../../lib/disk'
import { DIAGNOSE_COMMANDS_DIR, NOT_RUN } from '../../model/constants/collectors'
import { DIAGNOSIS_BYTES_MAX } from '../../model/limits/collectors'
import { CONFD } from '../../rpc/confd/protocol'
import { type Collector, CollectorFailure, type NodeSources, fieldsOf } from '../report'
import { about, anything, oneOf, record, text } from '../shapes'

const STATUSES = ['Ok', 'live-repair', 'evacuate', 'evacuate-failover'] as const

export const diagnose: Collector = {
  ...{ name: 'diagnose', category: 'node', kind: 'status' },
  help: 'whether the node needs a repair',
  asksConfd: true,
  ...{ interval_s: 30, cost_ms: 200, signed: true },
  shape: record({
    status: about('what is to be done with the node', oneOf(...STATUSES, NOT_RUN)),
    'command?': about('for live-repair: the program that repairs it', text),
    'details?': anything,
  }),
  open: (sources) => ({ collect: () => collect(sources) }),
}

async function collect(sources: NodeSources): Promise<unknown> {
  const name = await programName(sources)
  // Without a program everything is well.
  if (name === '') return { status: 'Ok' }
  const file = `${sources.paths.local(DIAGNOSE_COMMANDS_DIR)}/${name}`
  const unsafe = await problemOf(sources, name, file)
  if (unsafe !== undefined) return { status: NOT_RUN, details: unsafe }
  return verdict(name, await sources.run([file], DIAGNOSIS_BYTES_MAX))
}

const NAME_AT = '/cluster/diagnose_data_collector_filename'

/** A cluster that never set a program lacks this field. */
async function programName({ ask }: NodeSources): Promise<string> {
  const name = await ask(CONFD.configQuery, NAME_AT).catch((error: unknown) => {
    if (error instanceof Error && /answered with an error/.test(error.message)) return ''
    throw error
  })
  return typeof name === 'string' ? name : ''
}

const WRITABLE = 0o755

/**
 * Only root may be able to change a program that root will start; in a virtual cluster, also the user that runs its
 * daemons.
 */
async function problemOf(sources: NodeSources, name: string, file: string): Promise<string | undefined> {
  if (!/^[\w.-]+$/.test(name) || name.startsWith('.')) return `'${name}' is not the name of a file`
  const facts = await sources.stat(file).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (facts === undefined) return `${file} does not exist`
  const virtual = sources.paths.local('/') !== '/'
  const [uid, gid] = virtual ? [process.geteuid?.(), process.getegid?.()] : [0, 0]
  if (facts.uid !== uid) return `${file} does not belong to ${virtual ? 'who runs this daemon' : 'root'}`
  if (facts.gid !== gid) return `${file} does not belong to the group of ${virtual ? 'this daemon' : 'root'}`
  if (!facts.isFile) return `${file} is not a plain file`
  if ((facts.mode & ~WRITABLE) !== 0) return `${file} may be changed by others than its owner: give it mode 0755`
  if ((facts.mode & 0o100) === 0) return `${file} may not be executed`
  return sources.whyUnsafe(file)
}

function verdict(name: string, output: string): unknown {
  let reported: Readonly<Record<string, unknown>>
  try {
    reported = fieldsOf(JSON.parse(output))
  } catch {
    throw new CollectorFailure(`${name} did not print JSON`)
  }
  const { status, command, details } = reported
  if (!STATUSES.some((one) => one === status))
    throw new CollectorFailure(`${name} printed the status ${JSON.stringify(status)}; known are ${STATUSES.join(', ')}`)
  if (command !== undefined && typeof command !== 'string')
    throw new CollectorFailure(`${name} printed a command that is no text`)
  return { status, ...(command !== undefined && { command }), ...(details !== undefined && { details }) }
}
