// Ganeti's files with the status of each instance, for scripts: one for each node group, and one for all.
import type { Disk } from '../../lib/disk'
import type { Paths } from '../../lib/paths'
import { PATH } from '../../model/constants/paths'
import type { GroupState } from './decisions'

interface Parts {
  readonly disk: Disk
  readonly paths: Paths
}

/** This run's findings override those in other groups' files. */
export async function saveStatus(
  { uuid, known }: { readonly uuid: string; readonly known: readonly string[] },
  { instances }: GroupState,
  { disk, paths }: Parts,
): Promise<void> {
  const fileOf = (group: string) => paths.local(PATH.WATCHER_GROUP_INSTANCE_STATUS_FILE.replace('%s', group))
  const own = new Map([...instances.values()].map(({ name, status }) => [name, status as string]))
  const write = (file: string, all: ReadonlyMap<string, string>) => {
    const lines = [...all].map(([name, status]) => `${name} ${status}`).sort()
    return disk.write(file, lines.join('\n'), { mode: 0o644, durable: false })
  }
  await write(fileOf(uuid), own)
  const all = new Map<string, string>()
  for (const group of known.filter((other) => other !== uuid)) {
    const text = (await disk.read(fileOf(group)))?.toString('utf8') ?? ''
    for (const [, name = '', status = ''] of text.matchAll(/^(\S+) (.*)$/gm)) all.set(name, status)
  }
  for (const [name, status] of own) all.set(name, status)
  await write(paths.local(PATH.INSTANCE_STATUS_FILE), all)
}
