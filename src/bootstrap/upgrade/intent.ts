// The note of an upgrade that is under way, in Ganeti's file and form: the version before, the one to go over to, and the process. It is
// there until the cluster works again with one of the two, so whoever finds it goes on.
import * as path from 'node:path'
import type { Disk } from '../../lib/disk'
import type { Paths } from '../../lib/paths'
import { PATH } from '../../model/constants/paths'

export interface Intent {
  readonly from: string
  readonly to: string
  /** The queue was drained before, so it stays so. Ganeti does not remember that. */
  readonly drained: boolean
}

type Place = { readonly disk: Disk; readonly paths: Pick<Paths, 'local'> }

const DRAINED = 'drained'
const fileOf = ({ paths }: Place): string => paths.local(PATH.INTENT_TO_UPGRADE)

export async function readIntent(place: Place): Promise<Intent | undefined> {
  const text = (await place.disk.read(fileOf(place)))?.toString('utf8').trim()
  const [from, to, , drained] = text?.split(',') ?? []
  return from && to ? { from, to, drained: drained === DRAINED } : undefined
}

export async function writeIntent(place: Place, { from, to, drained }: Intent, pid: number): Promise<void> {
  const words = [from, to, String(pid), ...(drained ? [DRAINED] : [])]
  await place.disk.write(fileOf(place), `${words.join(',')}\n`, { mode: 0o600 })
}

export const removeIntent = (place: Place): Promise<void> => place.disk.remove(fileOf(place), { durable: true })

/** The configuration as it was before it was converted, until nobody needs it any more. */
export const keptConfig = ({ paths }: { readonly paths: Pick<Paths, 'configFile'> }): string =>
  `${path.dirname(paths.configFile)}/config.data.before-upgrade`
