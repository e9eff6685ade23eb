// A jest reporter. The last line of a run says in a fixed form how many tests passed, failed and were skipped, for programs that read the
// output of CI.
const { writeSync } = require('node:fs')

class ClosingLine {
  onRunComplete(_contexts, results) {
    // A file that could not run counts as a failure, although none of its tests was counted.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites
    const skipped = results.numPendingTests + results.numTodoTests
    const line = `${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`
    // Written at the exit, because jest's own summary comes after all other reporters.
    process.once('exit', () => writeSync(1, line))
  }
}

module.exports = ClosingLine
