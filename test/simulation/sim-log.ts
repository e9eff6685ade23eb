// The logs of simulated processes: into the trace of the run, or nowhere.
import pino from 'pino'
import { silentLog, type Log } from '../../src/lib/log'
import type { SimProcess } from './simulator'

export function openLog(process: SimProcess): Log {
  const { simulator, name, pid } = process
  if (!simulator.tracing) return silentLog
  return pino(
    // Stacks are not the same in two runs.
    { base: null, timestamp: false, serializers: { err: String } },
    { write: (line: string) => simulator.note(`${name}[${pid}]`, line.trimEnd()) },
  )
}
