// The note of an upgrade, and the files kept beside it.
import * as path from 'node:path'
import type { Disk } from '../../lib/disk'
import type { Paths } from '../../lib/paths'
import { PATH } from '../../model/constants/paths'
import { noteText, readNote, type Intent } from '../../model/upgrade-note'

type Place = { readonly disk: Disk; readonly paths: Pick<Paths, 'local'> }

const fileOf = ({ paths }: Place): string => paths.local(PATH.INTENT_TO_UPGRADE)

export const readIntent = async (place: Place): Promise<Intent | undefined> =>
  readNote((await place.disk.read(fileOf(place)))?.toString('utf8'))

/** luxid and jobs mention it. */
export const writeIntent = (place: Place, intent: Intent, pid: number): Promise<void> =>
  place.disk.write(fileOf(place), noteText(intent, pid), { mode: 0o644 })

export const removeIntent = (place: Place): Promise<void> => place.disk.remove(fileOf(place), { durable: true })

/** The configuration before its conversion, kept while somebody may need it. */
export const keptConfig = ({ paths }: { readonly paths: Pick<Paths, 'configFile'> }): string =>
  `${path.dirname(paths.configFile)}/config.data.before-upgrade`
