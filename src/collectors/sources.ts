// The sources of collectors on the machine that their process runs on.
import { whyUnsafe } from '../lib/file/changeable'
import { isMissing } from '../lib/disk'
import type { Machine } from '../lib/machine'
import { NOT_STARTED, runBounded } from '../lib/programs/run-command'
import { COLLECTED_OUTPUT_BYTES_MAX, COLLECTED_PROGRAM_S } from '../model/limits/collectors'
import { CollectorFailure, NotInstalled, type NodeSources } from './report'

export type MachineSources = Pick<NodeSources, 'read' | 'list' | 'stat' | 'whyUnsafe' | 'room' | 'run'>

/** `root`: that of a virtual node. */
export const machineSources = ({ files, run }: Pick<Machine, 'files' | 'run'>, root = '/'): MachineSources => ({
  read: (file) => files.readFile(file, 'utf8'),
  async list(directory) {
    try {
      return await files.readdir(directory)
    } catch (error) {
      if (isMissing(error)) return []
      throw error
    }
  },
  async stat(file) {
    try {
      const found = await files.stat(file)
      const { uid, gid, mode, size } = found
      return { isFile: found.isFile(), uid, gid, mode: mode & 0o7777, size }
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  },
  whyUnsafe: (file) => whyUnsafe(files, file, root),
  async room(directory) {
    const { blocks, bavail, bsize } = await files.statfs(directory)
    return { size_bytes: blocks * bsize, free_bytes: bavail * bsize }
  },
  async run(command, printed_max = COLLECTED_OUTPUT_BYTES_MAX) {
    const bounds = { maxOutput: printed_max, printed_max, timeout_s: COLLECTED_PROGRAM_S }
    const { code, stdout, stderr, timedOut, printedTooMuch } = await runBounded(run, command, bounds)
    const [program] = command
    if (printedTooMuch)
      throw new CollectorFailure(`running command: ${program}: it printed more than ${printed_max} bytes`)
    if (code === 0) return stdout
    if (code === NOT_STARTED && /ENOENT/.test(stderr)) throw new NotInstalled(`${program} is not installed`)
    const why = timedOut ? `it did not end within ${COLLECTED_PROGRAM_S} s` : stderr.trim() || `it ended with ${code}`
    throw new CollectorFailure(`running command: ${program}: ${why}`)
  },
})
