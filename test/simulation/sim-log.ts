// The logs of simulated processes: into the trace of the run, or nowhere.
import { openLog as open, silentLog, type Log } from '../../src/lib/log'
import type { SimProcess } from './simulator'

export function openLog(process: SimProcess): Log {
  const { simulator, name, pid } = process
  if (!simulator.tracing) return silentLog
  return open({
    write: (line) => simulator.note(`${name}[${pid}]`, line.trimEnd()),
    // Times and stacks are not the same in two runs.
    ...{ timed: false, showError: String },
  })
}
