// Calls of metad on its Unix socket (spec: wconfd.json "metad_rpc"), which only the node's own noded makes: Ganeti's
// two, and ours, which begin with `gantry`.
import { string } from '../../lib/shapes/leaves'
import type { Shape } from '../../lib/shapes/shape'
import type { MetadataDict } from '../node/dicts'
import { instanceName, metadata } from '../node/shapes'
import { type Arguments, readArguments } from '../wconfd/arguments'
import type { CallHandlers } from '../json-protocol'

const metadCalls = {
  /** Returns its argument. */
  echo: [string],
  /**
   * Everything that the guest may ask for from now on, including private and secret OS parameters. Replaces all earlier
   * data of the instance.
   */
  updateConfig: [metadata],
  /** The instance is about to run here: its public data. Private and secret OS parameters stay as they are. */
  gantryShow: [metadata],
  /** The instance no longer runs here. */
  gantryForget: [instanceName],
} as const satisfies Readonly<Record<string, readonly Shape<unknown>[]>>

export type MetadCallName = keyof typeof metadCalls

export interface Metad {
  echo(text: string): Promise<string>
  updateConfig(instance: MetadataDict): Promise<void>
  gantryShow(instance: MetadataDict): Promise<void>
  gantryForget(instanceName: string): Promise<void>
}

/** Ganeti encodes the answer of a call without a result as an empty list. */
const unit = (): readonly unknown[] => []

export function metadHandlers(metad: Metad): CallHandlers {
  const read = <N extends MetadCallName>(name: N, args: unknown): Arguments<(typeof metadCalls)[N]> =>
    readArguments(metadCalls[name], args)
  return {
    echo: (args) => metad.echo(...read('echo', args)),
    updateConfig: (args) => metad.updateConfig(...read('updateConfig', args)).then(unit),
    gantryShow: (args) => metad.gantryShow(...read('gantryShow', args)).then(unit),
    gantryForget: (args) => metad.gantryForget(...read('gantryForget', args)).then(unit),
  }
}
