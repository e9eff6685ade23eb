// A thread for tests of the pool: it adds numbers up, throws at one that is negative, and never ends at infinity.
require('./run-typescript.js')
const { serveTasks } = require('../../src/lib/worker-pool.ts')

serveTasks((parts) => {
  const sum = parts.reduce((total, part) => total + part, 0)
  if (sum < 0) throw new Error('negative')
  while (sum === Infinity);
  return sum
})
