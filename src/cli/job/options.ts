// Options that only gnt-job has.
import { PRIORITY } from '../../model/constants/jobs'
import { flag, value } from '../input/option'

export const oArchived = flag('--archived', 'archived', 'also list archived jobs')
export const oConfirmKill = flag(['--yes-do-it', '--ya-rly'], 'yes_do_it', 'confirm --kill')
export const oError = flag('--error', 'status_filter', 'failed jobs only', { stores: ['error'] })
export const oFinished = flag('--finished', 'status_filter', 'final jobs only', {
  stores: ['canceled', 'error', 'success'],
})
export const oKill = flag('--kill', 'kill', 'send SIGKILL to running jobs')
export const oLevel = value('--level', 'level', 'int', `any priority, from ${PRIORITY.highest} to ${PRIORITY.lowest}`, {
  own: true,
})
export const oNoQuestion = flag('--force', 'force', 'no question', { short: '-f' })
export const oPending = flag('--pending', 'status_filter', 'jobs not yet running', {
  stores: ['canceling', 'queued', 'waiting'],
})
export const oQueued = flag('--queued', 'status_filter', 'queued jobs only', { stores: ['queued'] })
export const oRunning = flag('--running', 'status_filter', 'running jobs only', { stores: ['running'] })
export const oWaiting = flag('--waiting', 'status_filter', 'waiting jobs only', { stores: ['waiting'] })
