// Each error name on the wire has a class here, with typed fields. Domain code throws these and knows nothing of HTTP.
// On the wire an error is `[class name, [arguments]]`; `toWire` and `errorFromWire` convert in both directions.

import { errorText, systemFailure } from '../lib/system-failure'

/** The second argument of OpPrereqError: the kind of refusal. */
export const ECODE = {
  RESOLVER: 'resolver_error',
  NORES: 'insufficient_resources',
  TEMP_NORES: 'temp_insufficient_resources',
  INVAL: 'wrong_input',
  STATE: 'wrong_state',
  NOENT: 'unknown_entity',
  EXISTS: 'already_exists',
  NOTUNIQUE: 'resource_not_unique',
  FAULT: 'internal_error',
  ENVIRON: 'environment_error',
} as const

/** Kinds of refusal that only our own API has. */
export const REFUSED = {
  forbidden: 'forbidden',
  inFlight: 'in_flight',
  otherBody: 'other_body',
  changed: 'changed',
} as const

export type ErrorCode = (typeof ECODE)[keyof typeof ECODE] | (typeof REFUSED)[keyof typeof REFUSED]
export type WireError = [name: string, args: unknown[]]

export abstract class GanetiError extends Error {
  /** The class name on the wire. */
  abstract readonly wire: string
  readonly args: readonly unknown[]

  constructor(args: readonly unknown[], message = args.map(String).join(', ')) {
    super(message)
    this.args = args
  }

  override get name(): string {
    return this.wire
  }

  toWire(): WireError {
    return [this.wire, [...this.args]]
  }
}

abstract class TextError extends GanetiError {
  constructor(text: string) {
    super([text], text)
  }
}

export class GenericError extends TextError {
  readonly wire = 'GenericError'
}
/** luxid's refusal of jobs while the queue is drained, in Ganeti's words. More text may follow it. */
export const QUEUE_DRAINED = 'Queue drained'
export const isQueueDrained = (error: unknown): boolean =>
  error instanceof GenericError && error.message.startsWith(QUEUE_DRAINED)

export class OpExecError extends TextError {
  readonly wire = 'OpExecError'
}
export class JobLost extends TextError {
  readonly wire = 'JobLost'
}
class JobQueueError extends TextError {
  readonly wire = 'JobQueueError'
}
export class JobQueueDrainError extends TextError {
  readonly wire = 'JobQueueDrainError'
}
export class ConfigurationError extends TextError {
  readonly wire = 'ConfigurationError'
}
export class ParameterError extends TextError {
  readonly wire = 'ParameterError'
}
export class LockError extends TextError {
  readonly wire = 'LockError'
}
class PidFileLockError extends TextError {
  readonly wire = 'PidFileLockError'
}
export class HypervisorError extends TextError {
  readonly wire = 'HypervisorError'
}
export class ProgrammerError extends TextError {
  readonly wire = 'ProgrammerError'
}
class BlockDeviceError extends TextError {
  readonly wire = 'BlockDeviceError'
}
export class AddressPoolError extends TextError {
  readonly wire = 'AddressPoolError'
}
export class ReservationError extends TextError {
  readonly wire = 'ReservationError'
}
export class RemoteError extends TextError {
  readonly wire = 'RemoteError'
}
class SignatureError extends TextError {
  readonly wire = 'SignatureError'
}
export class ResultValidationError extends TextError {
  readonly wire = 'ResultValidationError'
}
class OpResultError extends TextError {
  readonly wire = 'OpResultError'
}
class OpCodeUnknown extends TextError {
  readonly wire = 'OpCodeUnknown'
}
export class JobFileCorrupted extends TextError {
  readonly wire = 'JobFileCorrupted'
}
export class HooksFailure extends TextError {
  readonly wire = 'HooksFailure'
}
export class UnitParseError extends TextError {
  readonly wire = 'UnitParseError'
}
class ParseError extends TextError {
  readonly wire = 'ParseError'
}
export class TypeEnforcementError extends TextError {
  readonly wire = 'TypeEnforcementError'
}
export class TagError extends TextError {
  readonly wire = 'TagError'
}
class CommandError extends TextError {
  readonly wire = 'CommandError'
}
class StorageError extends TextError {
  readonly wire = 'StorageError'
}
class InotifyError extends TextError {
  readonly wire = 'InotifyError'
}
class ConfdMagicError extends TextError {
  readonly wire = 'ConfdMagicError'
}
class ConfdClientError extends TextError {
  readonly wire = 'ConfdClientError'
}
class UdpDataSizeError extends TextError {
  readonly wire = 'UdpDataSizeError'
}
class NoCtypesError extends TextError {
  readonly wire = 'NoCtypesError'
}
class IPAddressError extends TextError {
  readonly wire = 'IPAddressError'
}
export class LuxiError extends TextError {
  readonly wire = 'LuxiError'
}
export class QueryFilterParseError extends TextError {
  readonly wire = 'QueryFilterParseError'
}
class RapiTestResult extends TextError {
  readonly wire = 'RapiTestResult'
}
class FileStoragePathError extends TextError {
  readonly wire = 'FileStoragePathError'
}

export class OpPrereqError extends GanetiError {
  readonly wire = 'OpPrereqError'
  readonly code: ErrorCode
  /** Some of Ganeti's refusals cross the wire without a code. */
  constructor(
    readonly text: string,
    code?: ErrorCode,
  ) {
    super(code === undefined ? [text] : [text, code], text)
    this.code = code ?? ECODE.INVAL
  }
}

export class JobQueueFull extends GanetiError {
  readonly wire = 'JobQueueFull'
  /** Ganeti's error has no text. Ours names the user with too many jobs, if the queue itself is not full. */
  constructor(text?: string) {
    super(text === undefined ? [] : [text], text ?? 'The job queue is full')
  }
}

export class ConfigVerifyError extends GanetiError {
  readonly wire = 'ConfigVerifyError'
  constructor(
    text: string,
    readonly problems: readonly string[],
  ) {
    super([text, problems], text)
  }
}

class ConfigVersionMismatch extends GanetiError {
  readonly wire = 'ConfigVersionMismatch'
  constructor(
    readonly expected: number,
    readonly actual: number,
  ) {
    super([expected, actual], `Cluster configuration version is ${actual}, but ${expected} was expected`)
  }
}

export class ResolverError extends GanetiError {
  readonly wire = 'ResolverError'
  constructor(
    readonly host: string,
    readonly errno: number,
    readonly text: string,
  ) {
    super([host, errno, text], text)
  }
}

/** `[node name, script, output]` of each hook that failed. */
export type HookFailure = readonly [node: string, script: string, output: string]

export class HooksAbort extends GanetiError {
  readonly wire = 'HooksAbort'
  constructor(readonly failures: readonly HookFailure[]) {
    super([failures], failures.map(([node, script, output]) => `${node}: ${script}: ${output}`).join('; '))
  }
}

class X509CertError extends GanetiError {
  readonly wire = 'X509CertError'
  constructor(
    readonly file: string,
    readonly text: string,
  ) {
    super([file, text], `${file}: ${text}`)
  }
}

const TEXT_ERRORS: Record<string, new (text: string) => GanetiError> = {
  GenericError,
  OpExecError,
  JobLost,
  JobQueueError,
  JobQueueDrainError,
  ConfigurationError,
  ParameterError,
  LockError,
  PidFileLockError,
  HypervisorError,
  ProgrammerError,
  BlockDeviceError,
  AddressPoolError,
  ReservationError,
  RemoteError,
  SignatureError,
  ResultValidationError,
  OpResultError,
  OpCodeUnknown,
  JobFileCorrupted,
  HooksFailure,
  UnitParseError,
  ParseError,
  TypeEnforcementError,
  TagError,
  CommandError,
  StorageError,
  InotifyError,
  ConfdMagicError,
  ConfdClientError,
  UdpDataSizeError,
  NoCtypesError,
  IPAddressError,
  LuxiError,
  QueryFilterParseError,
  RapiTestResult,
  FileStoragePathError,
}

const CODES: readonly string[] = [...Object.values(ECODE), ...Object.values(REFUSED)]
const isCode = (value: unknown): value is ErrorCode => typeof value === 'string' && CODES.includes(value)
const isText = (value: unknown): value is string => typeof value === 'string'

/**
 * The error that another daemon sent. An unknown class, or odd arguments, become a GenericError that keeps the name.
 */
export function errorFromWire(wire: unknown): GanetiError {
  if (isText(wire)) return new GenericError(wire)
  if (!Array.isArray(wire) || !isText(wire[0])) return new GenericError(JSON.stringify(wire) ?? 'unknown error')
  const name = wire[0]
  const args: unknown[] = Array.isArray(wire[1]) ? wire[1] : []
  const known = structured(name, args)
  if (known) return known
  const text = args.map((arg) => (isText(arg) ? arg : JSON.stringify(arg))).join(', ')
  const textClass = Object.hasOwn(TEXT_ERRORS, name) ? TEXT_ERRORS[name] : undefined
  return textClass ? new textClass(text) : new GenericError(text === '' ? name : `${name}: ${text}`)
}

function structured(name: string, args: readonly unknown[]): GanetiError | undefined {
  const [first, second, third] = args
  switch (name) {
    case 'OpPrereqError':
      return new OpPrereqError(
        isText(first) ? first : JSON.stringify(first ?? ''),
        isCode(second) ? second : args.length === 1 ? undefined : ECODE.FAULT,
      )
    case 'JobQueueFull':
      return new JobQueueFull(isText(first) ? first : undefined)
    case 'ConfigVerifyError':
      return isText(first) ? new ConfigVerifyError(first, Array.isArray(second) ? second.map(String) : []) : undefined
    case 'ConfigVersionMismatch':
      return typeof first === 'number' && typeof second === 'number'
        ? new ConfigVersionMismatch(first, second)
        : undefined
    case 'ResolverError':
      return isText(first) ? new ResolverError(first, Number(second), String(third)) : undefined
    case 'HooksAbort':
      return Array.isArray(first) ? new HooksAbort(first.map(hookFailure)) : undefined
    case 'X509CertError':
      return isText(first) ? new X509CertError(first, String(second)) : undefined
    default:
      return undefined
  }
}

function hookFailure(value: unknown): HookFailure {
  const [node, script, output] = Array.isArray(value) ? value.map(String) : [String(value)]
  return [node ?? '', script ?? '', output ?? '']
}

/** Converts anything thrown to `[name, args]`. An error that is not ours is a bug, and shows no stack on the wire. */
export function errorToWire(error: unknown): WireError {
  if (error instanceof GanetiError) return error.toWire()
  const refused = systemFailure(error)
  return refused === undefined ? ['GenericError', [errorText(error)]] : ['OpExecError', [refused]]
}
