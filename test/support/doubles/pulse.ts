// The smallest possible collector: it reports whether the machine has a clock.
import type { Collector } from '../../../src/collectors/report'
import { int, record } from '../../../src/collectors/shapes'

export const pulse: Collector = {
  ...{ name: 'pulse' as Collector['name'], category: 'node', kind: 'performance' },
  help: 'how long the machine runs',
  ...{ interval_s: 5, cost_ms: 1 },
  shape: record({ seconds: int }),
  open: ({ read }) => ({
    collect: async () => ({ seconds: Math.floor(Number.parseFloat(await read('/proc/uptime'))) }),
  }),
}
