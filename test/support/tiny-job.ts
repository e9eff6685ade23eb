// A job process that only knows OP_TEST_DELAY and a few opcodes that fail in ways that tests need. It does not connect to a wconfd.
import { appendFileSync } from 'node:fs'
import { processChannel, serveJobs } from '../../src/jobs/job-process'
import { systemClock } from '../../src/lib/clock'
import { systemDisk } from '../../src/lib/disk'
import { silentLog } from '../../src/lib/log'
import { pathsOf } from '../../src/lib/paths'
import { OpExecError } from '../../src/model/errors'
import { JobCancelled } from '../../src/operations/environment'

const [root = '', hostname = ''] = process.argv.slice(-2)
const paths = pathsOf(root, hostname)

serveJobs(processChannel(), {
  paths,
  clock: systemClock,
  disk: systemDisk,
  log: silentLog,
  Cancelled: JobCancelled,
  async execute(op, setting) {
    // OP_TEST_DELAY's parameters have other meanings here: `repeat` is the milliseconds to wait "for locks".
    const number = (name: string) => (typeof op[name] === 'number' ? op[name] : 0)
    await systemClock.sleep(number('repeat'), setting.cancelled)
    await setting.started()
    appendFileSync(`${root}/ran`, `${setting.jobId}.${setting.opIndex}\n`)
    if (op['comment'] === 'fail') throw new OpExecError('told to fail')
    if (op['comment'] === 'bug') throw new TypeError('a defect')
    if (op['comment'] === 'die') process.kill(process.pid, 'SIGKILL')
    if (op['comment'] === 'log') for (let i = 0; i < 3; i++) setting.log('message', `line ${i}`)
    const { secret } = setting.secrets
    await systemClock.sleep(number('duration') * 1000, op['interruptible'] === true ? setting.cancelled : undefined)
    return secret ?? null
  },
})
