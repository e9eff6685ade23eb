// Ganeti's names for the reasons why an instance does not fit.
import { Verdict } from './placement'
import type { Reject } from '../../model/allocation'

const NAMES: readonly (readonly [Verdict, Reject])[] = [
  [Verdict.memory, 'FailMem'],
  [Verdict.disk, 'FailDisk'],
  [Verdict.cpu, 'FailCPU'],
  [Verdict.n1, 'FailN1'],
  [Verdict.tags, 'FailTags'],
  [Verdict.migration, 'FailMig'],
  [Verdict.diskCount, 'FailDiskCount'],
  [Verdict.spindles, 'FailSpindles'],
  [Verdict.internal, 'FailInternal'],
]

const BY_VERDICT = new Map<Verdict, Reject>(NAMES)

export const failMode = (verdict: Verdict): Reject => BY_VERDICT.get(verdict) ?? 'FailInternal'

/** All of them, in Ganeti's order, with their counts. */
export const failCounts = (failures: readonly number[]): [name: Reject, count: number, verdict: Verdict][] =>
  NAMES.map(([verdict, name]) => [name, failures[verdict] ?? 0, verdict])

export const failText = (failures: readonly number[]): string =>
  failCounts(failures)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name}: ${count}`)
    .join(', ')
