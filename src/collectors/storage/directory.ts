// The state of a directory with disk files, and of its file system.
import { errorCode } from '../../lib/disk'
import { errorText } from '../../lib/system-failure'
import { mountOf, mounts } from '../mounts'
import type { NodeSources } from '../report'
import { type FoundStorage, fullness, unmeasured } from './found-storage'

export async function directoryStorage(sources: NodeSources, name: string): Promise<FoundStorage> {
  const directory = sources.paths.local(name)
  const mount = mountOf(await mounts(sources), directory)
  const details = mount && { mount: mount.point, file_system: mount.type, device: mount.device }
  try {
    const { size_bytes, free_bytes } = await sources.room(directory)
    const readOnly = mount?.options.includes('ro') === true
    const status = readOnly ? ({ code: 4, message: 'its file system is read-only' } as const) : fullness(free_bytes)
    return { size_bytes, free_bytes, status, details: { ...details } }
  } catch (error) {
    return unmeasured({ code: 4, message: brokenBy(error) }, { ...details, error: errorCode(error) ?? null })
  }
}

const BROKEN: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such directory on this node',
  ENOTCONN: 'its file system is not connected',
  ESTALE: 'its file system has gone from the server',
  EIO: 'its file system has errors',
  ETIMEDOUT: 'its server does not answer',
  EHOSTDOWN: 'its server does not answer',
}

const brokenBy = (error: unknown): string => BROKEN[errorCode(error) ?? ''] ?? errorText(error)
