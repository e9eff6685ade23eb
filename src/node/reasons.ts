// Why each instance is in its state: the reason trail of its last change of state, in a file that only root may read.
// The monitoring daemon shows it to everybody, so our own marks must not be in it.
import * as path from 'node:path'
import { nanoseconds } from '../lib/clock'
import { errorText } from '../lib/system-failure'
import { MODE } from '../model/constants/daemons'
import { withoutMarks } from '../model/marks'
import type { ReasonTrail } from '../rpc/node/dicts'
import type { NodeContext } from './context'

export async function noteReason(
  context: NodeContext,
  instanceName: string,
  trail: ReasonTrail,
  action: string,
): Promise<void> {
  const { paths, files, clock } = context
  const entry = [`gnt:daemon:noded:${action}`, '', nanoseconds(clock)]
  await files.mkdir(paths.instanceReasonDir, { recursive: true, mode: 0o755 })
  await write(context, fileOf(context, instanceName), [...trail, entry])
}

/** The instance runs elsewhere now. */
export const forgetReason = (context: Pick<NodeContext, 'paths' | 'files'>, instanceName: string): Promise<void> =>
  context.files.rm(fileOf(context, instanceName), { force: true })

/** Earlier versions wrote marks into these files. What cannot be read is nobody's trail, and is removed. */
export async function cleanReasons(context: Pick<NodeContext, 'paths' | 'files' | 'disk' | 'log'>): Promise<void> {
  const { paths, files, disk, log } = context
  for (const name of await disk.list(paths.instanceReasonDir)) {
    const file = path.join(paths.instanceReasonDir, name)
    try {
      const trail = parsed(await files.readFile(file, 'utf8'))
      if (trail === undefined) await files.rm(file, { force: true })
      else if (withoutMarks(trail) !== trail) await write(context, file, withoutMarks(trail))
    } catch (error) {
      log.warn({ file, reason: errorText(error) }, 'the reason of the state of an instance may still name its user')
    }
  }
}

function parsed(text: string): readonly unknown[] | undefined {
  try {
    const trail: unknown = JSON.parse(text)
    return Array.isArray(trail) ? trail : undefined
  } catch {
    return undefined
  }
}

const write = (context: Pick<NodeContext, 'disk'>, file: string, trail: readonly unknown[]): Promise<void> =>
  context.disk.write(file, JSON.stringify(trail) + '\n', { mode: MODE.secureFile, durable: false })

const fileOf = ({ paths }: Pick<NodeContext, 'paths'>, instanceName: string): string =>
  `${paths.instanceReasonDir}/${instanceName}`
