// The order of test files, the same on every machine: the slowest come first, so that the rest runs meanwhile and no slow file is left
// alone at the end. Without measured times, jest would begin with the largest files.
const { statSync } = require('node:fs')

/** The slowest files, then folders. They often wait for daemons and machines. */
const WAITING = [
  'test/scenarios/maintenance.test.ts',
  'test/scenarios/master-failover.test.ts',
  'test/scenarios/',
  'test/campaigns/kills.test.ts',
  'test/campaigns/htools-shelltests.test.ts',
  'test/system/embedded.test.ts',
  'test/system/vm-life-cycle.test.ts',
  'test/system/contract.test.ts',
  'test/system/',
  'test/peers/',
  'test/campaigns/',
]
const FIRST = [...WAITING, 'test/simulation/', 'test/house.test.ts', 'test/processes/']

const place = ({ path }) => {
  const at = FIRST.findIndex((name) => path.includes(`/${name}`))
  return at < 0 ? FIRST.length : at
}

class SlowestFirst {
  sort(tests) {
    const size = new Map(tests.map(({ path }) => [path, statSync(path).size]))
    const sorted = [...tests].sort((a, b) => place(a) - place(b) || size.get(b.path) - size.get(a.path))
    const waiting = sorted.filter((test) => place(test) < WAITING.length)
    return waiting.length === 0 ? sorted : mixed(waiting, sorted.slice(waiting.length))
  }

  // Jest calls these functions too. Nothing is measured, and all files run.
  cacheResults() {}
  allFailedTests = (tests) => tests
  shard = (tests) => tests
}

/** Half of the files that compute run while others wait. The other half comes at the end, where a slow one would be left alone. */
function mixed(waiting, busy) {
  const between = busy.filter((_, index) => index % 2 === 0)
  const upTo = (index) => Math.floor((index * between.length) / waiting.length)
  return [
    ...waiting.flatMap((test, index) => [test, ...between.slice(upTo(index), upTo(index + 1))]),
    ...busy.filter((_, index) => index % 2 === 1),
  ]
}

module.exports = SlowestFirst
