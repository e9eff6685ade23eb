// The client of metad. Calls are few, so each has a connection of its own.
import type { Clock } from '../../lib/clock'
import { METAD_ANSWER_S } from '../../model/limits/metad'
import { JsonClient } from '../json-protocol'
import type { Metad, MetadCallName } from './calls'

const METAD = 'the metadata daemon (metad)'

export function openMetad({ path, clock }: { readonly path: string; readonly clock: Clock }): Metad {
  const call = async (name: MetadCallName, argument: unknown): Promise<unknown> => {
    const client = new JsonClient({ path, clock, peer: METAD })
    try {
      return await client.call(name, [argument], METAD_ANSWER_S)
    } finally {
      client.close()
    }
  }
  return {
    echo: async (text) => String(await call('echo', text)),
    updateConfig: async (instance) => void (await call('updateConfig', instance)),
    gantryShow: async (instance) => void (await call('gantryShow', instance)),
    gantryForget: async (instanceName) => void (await call('gantryForget', instanceName)),
  }
}
