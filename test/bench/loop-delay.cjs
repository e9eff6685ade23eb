// Loaded into every daemon of a measured cluster: on SIGUSR2 it writes the longest time that the event loop was blocked since the last
// one, in milliseconds, to the folder GANTRY_BENCH_LOOPS; and behind it how long its thread worked without a break, which on a machine
// that does other work as well is the part that is the daemon's own.
const { monitorEventLoopDelay } = require('node:perf_hooks')
const fs = require('node:fs')

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()

const schedule = fs.openSync(`/proc/self/task/${process.pid}/schedstat`)
const buffer = Buffer.alloc(64)
/** Milliseconds on a processor until now. */
function worked_ms() {
  const length = fs.readSync(schedule, buffer, 0, buffer.length, 0)
  return Number(buffer.toString('latin1', 0, length).split(' ')[0]) / 1e6
}

let last_ms = worked_ms()
let longest_ms = 0
setInterval(() => {
  const now_ms = worked_ms()
  longest_ms = Math.max(longest_ms, now_ms - last_ms)
  last_ms = now_ms
}, 1).unref()

process.on('SIGUSR2', () => {
  const file = `${process.env.GANTRY_BENCH_LOOPS}/${process.pid}`
  fs.writeFileSync(`${file}.new`, `${delay.max / 1e6} ${longest_ms}`)
  fs.renameSync(`${file}.new`, file)
  delay.reset()
  longest_ms = 0
})
