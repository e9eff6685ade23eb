// The options of `npm start -- ...`, and those that an embedded cluster remembers.
import { errorText } from '../lib/system-failure'
import * as os from 'node:os'
import * as path from 'node:path'
import { parseArgs } from 'node:util'
import { environmentValue } from '../lib/environment'
import type { AccessLevel } from '../lib/access-level'
import { EMBEDDED_NODES_MAX } from '../model/limits/embedded'
import { accessLevelOf } from '../roles/options'

export interface EmbeddedOptions {
  root: string
  nodes?: number
  baseAddress?: string
  hypervisor?: 'kvm' | 'fake'
  state?: string
  openReads: boolean
  /** The access log level of the remote API. */
  accessLog: AccessLevel
  /** The node whose files of the configuration are right. */
  takeFiles?: string
  reset: boolean
}

/** A mistake in the user's command: it is shown in one line, without a stack. */
export class UsageError extends Error {}

/** The default folder. */
export const defaultRoot = (): string => path.join(os.homedir(), '.gantry')

export function readOptions(args: readonly string[]): EmbeddedOptions | 'help' {
  let values
  try {
    ;({ values } = parseArgs({
      args: [...args],
      options: {
        root: { type: 'string' },
        nodes: { type: 'string' },
        'base-address': { type: 'string' },
        hypervisor: { type: 'string' },
        state: { type: 'string' },
        'no-require-authentication': { type: 'boolean' },
        'access-log': { type: 'string' },
        'take-files': { type: 'string' },
        reset: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }))
  } catch (error) {
    throw new UsageError(`${errorText(error)}; "npm start -- --help" lists all options`)
  }
  if (values.help) return 'help'
  return {
    root: path.resolve(values.root ?? environmentValue('GANTRY_HOME') ?? defaultRoot()),
    nodes: nodeCount(values.nodes),
    baseAddress: baseAddress(values['base-address']),
    hypervisor: hypervisor(values.hypervisor),
    state: values.state === undefined ? undefined : path.resolve(values.state),
    openReads: values['no-require-authentication'] === true,
    accessLog: accessLog(values['access-log']),
    takeFiles: values['take-files'],
    reset: values.reset === true,
  }
}

function nodeCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= EMBEDDED_NODES_MAX) return count
  throw new UsageError(`--nodes needs a number from 1 to ${EMBEDDED_NODES_MAX}, not '${text}'`)
}

function baseAddress(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const bytes = /^127\.(\d{1,3})\.(\d{1,3})\.0$/.exec(text)
  if (bytes?.slice(1).every((byte) => Number(byte) <= 255)) return text
  throw new UsageError(`--base-address needs a loopback address that ends in .0, such as 127.0.2.0, not '${text}'`)
}

function accessLog(text: string | undefined): AccessLevel {
  try {
    return accessLevelOf(text)
  } catch (error) {
    throw new UsageError(errorText(error))
  }
}

function hypervisor(text: string | undefined): 'kvm' | 'fake' | undefined {
  if (text === undefined || text === 'kvm' || text === 'fake') return text
  throw new UsageError(`--hypervisor is kvm or fake, not '${text}'`)
}
