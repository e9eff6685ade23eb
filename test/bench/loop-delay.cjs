// Loaded into every daemon of a measured cluster: on SIGUSR2 it writes the longest time that the event loop was blocked since the last
// one, in milliseconds, to the folder GANTRY_BENCH_LOOPS.
const { monitorEventLoopDelay } = require('node:perf_hooks')
const fs = require('node:fs')

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
process.on('SIGUSR2', () => {
  const file = `${process.env.GANTRY_BENCH_LOOPS}/${process.pid}`
  fs.writeFileSync(`${file}.new`, String(delay.max / 1e6))
  fs.renameSync(`${file}.new`, file)
  delay.reset()
})
