// Bytes that this process uses after V8 has thrown away what nobody can reach: without that, a figure tells of V8's habits.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

export function usedBytes(): number {
  collectGarbage()
  // Buffers are given back in the background, for which the next collection waits.
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
