// The error text for the terminal, and the exit code that goes with it (spec: cli.json, error_prefixes and exit_codes).
import {
  ConfigurationError,
  GanetiError,
  HooksAbort,
  HooksFailure,
  JobLost,
  JobQueueDrainError,
  JobQueueFull,
  OpExecError,
  OpPrereqError,
  ParameterError,
  ResolverError,
  TagError,
  TypeEnforcementError,
  QUEUE_DRAINED,
  isQueueDrained,
} from '../../model/errors'
import { systemFailure } from '../../lib/system-failure'
import { PeerError } from '../../rpc/json-protocol'
import { CommandFailure, EXIT } from '../outcome'
import { JobCanceled, JobSubmitted } from '../submit/job-outcomes'
import { ABOUT_COMMAS } from '../input/parse-value'
import { unreadable } from '../input/unreadable'

export interface Description {
  readonly lines: readonly string[]
  readonly exitCode: number
}

/** `plain`: for people, a refusal begins with its reason. Otherwise it has Ganeti's lines, which scripts read. */
export function describeError(error: unknown, plain = false): Description {
  if (plain && error instanceof OpPrereqError) return failure(`Failure: ${error.text}`)
  if (error instanceof JobSubmitted) return { lines: [error.message], exitCode: EXIT.ok }
  if (error instanceof CommandFailure) return { lines: [error.message], exitCode: error.exitCode }
  if (error instanceof JobCanceled) return failure(error.message)
  if (error instanceof PeerError) return failure(`Cannot communicate with the master daemon: ${error.message}`)
  if (error instanceof GanetiError) return describeGanetiError(error)
  const refused = systemFailure(error)
  if (refused !== undefined) return failure(`Failure: ${refused}`)
  return failure(`Unexpected error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
}

const failure = (...lines: string[]): Description => ({ lines, exitCode: EXIT.failure })

const refused = (code: string, text: string): Description =>
  failure('Failure: prerequisites not met for this operation:', `error type: ${code}, error details:`, text)

/** No parameter has such a name, so a comma has cut a value. */
const REST_OF_A_VALUE = /^Unknown parameter '(?![a-z][\w-]*')/

function describeGanetiError(error: GanetiError): Description {
  if (error instanceof OpPrereqError) return refused(error.code, error.text)
  if (error instanceof OpExecError) return failure('Failure: command execution error:', error.message)
  if (error instanceof TagError) return failure('Failure: invalid tag(s) given:', error.message)
  if (error instanceof TypeEnforcementError) {
    const isRest = REST_OF_A_VALUE.test(error.message)
    return failure(`Parameter Error: ${error.message}${isRest ? `; ${ABOUT_COMMAS}` : ''}`)
  }
  if (error instanceof ParameterError) return failure(`Failure: unknown/wrong parameter name '${error.message}'`)
  if (error instanceof ResolverError) return failure(`Failure: can't resolve hostname '${error.host}'`)
  if (error instanceof HooksAbort)
    return failure(
      'Failure: hooks execution failed:',
      ...error.failures.map(
        ([node, script, output]) =>
          `  node: ${node}, script: ${script}${output === '' ? ' (no output)' : `, output: ${output}`}`,
      ),
    )
  // luxid's own refusal has no class.
  if (error instanceof JobQueueDrainError || isQueueDrained(error))
    return failure(
      "Failure: the job queue is marked for drain and doesn't accept new requests",
      error.message.startsWith(`${QUEUE_DRAINED}: `)
        ? error.message.slice(QUEUE_DRAINED.length + 2)
        : 'gnt-cluster queue undrain opens it again',
    )
  if (error instanceof JobQueueFull && error.args.length === 0)
    return failure("Failure: the job queue is full and doesn't accept new job submissions until old jobs are archived")
  if (error instanceof JobLost) return failure(`Error checking job status: ${error.message}`)
  if (error instanceof HooksFailure) return failure(`Failure: hooks general failure: ${error.message}`)
  if (error instanceof ConfigurationError)
    return { lines: [`Corrupt configuration file: ${error.message}`, 'Aborting.'], exitCode: EXIT.usage }
  const reason = unreadable(error)
  if (reason !== undefined) return failure(`Failure: the master daemon cannot read this request: ${reason}`)
  return failure(`Failure: ${error.message}`)
}
