// The bytes that this process uses after V8 has removed unreachable objects. Without that, the figure would depend on V8's habits.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

export function usedBytes(): number {
  collectGarbage()
  // Buffers are freed in the background. The next collection waits for that.
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
