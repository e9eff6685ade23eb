// The order of test files, the same everywhere: what takes longest comes first, so that the rest is done meanwhile, and no file is left
// alone at the end. Where jest has not measured files yet, it would begin with the largest.
const { statSync } = require('node:fs')

/** The longest, and then folders. */
const FIRST = [
  'test/system/maintenance.test.ts',
  'test/system/master-failover.test.ts',
  'test/campaigns/kills.test.ts',
  'test/system/vm-life-cycle.test.ts',
  'test/system/contract.test.ts',
  'test/system/',
  'test/peers/',
  'test/simulation/',
  'test/accepted.test.ts',
  'test/processes/',
]

const place = (path) => {
  const at = FIRST.findIndex((name) => path.includes(`/${name}`))
  return at < 0 ? FIRST.length : at
}

class SlowestFirst {
  sort(tests) {
    const size = new Map(tests.map(({ path }) => [path, statSync(path).size]))
    return [...tests].sort((a, b) => place(a.path) - place(b.path) || size.get(b.path) - size.get(a.path))
  }

  // Jest calls these, too: nothing is measured, and all files run.
  cacheResults() {}
  allFailedTests = (tests) => tests
  shard = (tests) => tests
}

module.exports = SlowestFirst
