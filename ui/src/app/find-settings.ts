// Finds settings of the cluster: by their names, by the names of parameters within, and by what they mean.
import type { Cluster } from '../api/cluster'
import type { Schema } from '../forms/schema'
import { settingsOf } from '../pages/cluster/settings'
import type { Found } from './found'

export function settingsFor(letters: string, cluster: Cluster, most: number): readonly Found[] {
  const fits = (text: string) => text.toLowerCase().includes(letters.toLowerCase())
  const settings = settingsOf(cluster)
  const byName = settings.filter(({ name }) => fits(name))
  const byParameter = settings.flatMap(({ name, text, schema }) =>
    parametersOf(schema)
      .filter(([parameter]) => fits(parameter))
      .map(([parameter, meaning = text]) => ({ name, parameter, text: meaning })),
  )
  const byText = settings.filter(({ name, text }) => !fits(name) && fits(text))
  const found = [
    ...byName.map(({ name, text }) => ({ id: name, label: name, note: text, target: name })),
    ...byParameter.map(({ name, parameter, text }) => ({
      ...{ id: `${name} ${parameter}`, label: `${name}: ${parameter}`, note: text, target: name },
    })),
    ...byText.map(({ name, text }) => ({ id: name, label: name, note: text, target: name })),
  ]
  return found.slice(0, most)
}

/** The parameters of a dictionary, with the dictionaries within: `drbd/metavg`. */
function parametersOf({ properties = {} }: Schema, within = ''): (readonly [name: string, meaning?: string])[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const parts = parametersOf(schema, `${within}${name}/`)
    return parts.length > 0 ? parts : [[`${within}${name}`, schema.description] as const]
  })
}
