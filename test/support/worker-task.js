// A thread for tests of the pool. It adds up numbers, throws an error for a negative one, and never ends for infinity.
require('./run-typescript.js')
const { serveTasks } = require('../../src/lib/work/worker-pool.ts')

serveTasks((parts) => {
  const sum = parts.reduce((total, part) => total + part, 0)
  if (sum < 0) throw new Error('negative')
  while (sum === Infinity);
  return sum
})
