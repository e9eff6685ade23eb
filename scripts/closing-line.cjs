// A jest reporter: the very last line of a run says in one fixed form how many tests passed, failed and were skipped,
// for whatever reads the output of CI.
const { writeSync } = require('node:fs')

class ClosingLine {
  onRunComplete(_contexts, results) {
    // A file that could not run at all is a failure, though none of its tests was counted.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites
    const skipped = results.numPendingTests + results.numTodoTests
    const line = `${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`
    // At the exit, because jest's own summary comes after every other reporter.
    process.once('exit', () => writeSync(1, line))
  }
}

module.exports = ClosingLine
