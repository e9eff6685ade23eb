// Why a job failed, from the results of its opcodes.
import { PRECEDING_FAILED } from '../model/constants/jobs'

/** The text of the failed opcode's error `[class, [text, ...]]`. Later opcodes only say that they did not begin. */
export function failureIn(results: unknown): string | undefined {
  const all: readonly unknown[] = Array.isArray(results) ? results : []
  const texts = all.map((result) => {
    const args: unknown = Array.isArray(result) ? result[1] : undefined
    return Array.isArray(args) && typeof args[0] === 'string' ? args[0] : undefined
  })
  const last = texts.findLastIndex((text, at) => all[at] !== null && text !== PRECEDING_FAILED[1][0])
  return texts[last]
}
