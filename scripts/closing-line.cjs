// A jest reporter. The last line of a run says in a fixed form how many tests passed, failed and were skipped, for programs that read the
// output of CI. The files that failed are written down for .ci/run, which runs some of them once more.
const { mkdirSync, writeFileSync, writeSync } = require('node:fs')
const path = require('node:path')

class ClosingLine {
  /** Where failures are written, if .ci/run wants them. A run of jest that a test starts is none of the lane's. */
  failures = process.env.FAILED_TESTS_DIR

  constructor() {
    delete process.env.FAILED_TESTS_DIR
  }

  onRunComplete(_contexts, results) {
    // A file that could not run counts as a failure, although none of its tests was counted.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites
    const skipped = results.numPendingTests + results.numTodoTests
    const line = `${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`
    // Written at the exit, because jest's own summary comes after all other reporters.
    process.once('exit', () => writeSync(1, line))
    if (this.failures !== undefined) writeFailures(this.failures, results.testResults)
  }
}

/** One file for each test file that failed, with the same path, which holds what jest printed of it. */
function writeFailures(directory, testResults) {
  for (const { testFilePath, failureMessage, testExecError } of testResults) {
    if (!failureMessage && !testExecError) continue
    const file = path.join(directory, path.relative(process.cwd(), testFilePath))
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, `${failureMessage ?? testExecError.message}\n`)
  }
}

module.exports = ClosingLine
