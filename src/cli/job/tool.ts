// The table of gnt-job: its commands, and the function that runs each.
import { type Tool, many, one } from '../command'
import { infoData } from '../output/data'
import { archiveJobs, autoArchiveJobs, cancelJobs, changePriority, waitForJob, watchJob } from './commands'
import { showJobs } from './info'
import { listFieldsCommand } from '../output/list'
import { listJobs } from '../output/lists'
import { LIST_OPTIONS, oFilter, oForce, oNoHeaders, oPriority, oSeparator } from '../input/options'
import {
  oArchived,
  oConfirmKill,
  oError,
  oFinished,
  oKill,
  oLevel,
  oNoQuestion,
  oPending,
  oQueued,
  oRunning,
  oWaiting,
} from './options'

export const jobTool: Tool = {
  name: 'gnt-job',
  commands: [
    {
      name: 'list',
      help: 'list jobs; default columns: id, status, summary',
      usage: '[<job-id>...]',
      args: [many('job id')],
      options: [...LIST_OPTIONS, oFilter, oPending, oRunning, oError, oFinished, oArchived],
      ...listJobs,
    },
    {
      name: 'list-fields',
      help: 'list job fields',
      usage: '[<fields>...]',
      args: [many('free text')],
      options: [oNoHeaders, oSeparator],
      ...listFieldsCommand('job'),
    },
    {
      name: 'archive',
      help: 'archive jobs',
      usage: '<job-id> [<job-id>...]',
      args: [many('job id', 1)],
      options: [],
      run: archiveJobs,
    },
    {
      name: 'autoarchive',
      help: 'archive old jobs',
      usage: '<age>',
      args: [one('age')],
      options: [],
      run: autoArchiveJobs,
    },
    {
      name: 'cancel',
      help: 'cancel jobs',
      usage: '{[--force] [--kill --yes-do-it] {--pending | --queued | --waiting} | <job-id> [<job-id>...]}',
      args: [many('job id')],
      options: [oNoQuestion, oKill, oPending, oQueued, oWaiting, oConfirmKill],
      run: cancelJobs,
    },
    {
      name: 'info',
      aliases: ['show'],
      help: 'show jobs',
      usage: '<job-id> [<job-id>...]',
      args: [many('job id', 1)],
      options: [],
      run: showJobs,
      data: infoData('job', 'id'),
    },
    {
      name: 'wait',
      help: 'wait silently for a job',
      usage: '<job-id>',
      args: [one('job id')],
      options: [],
      run: waitForJob,
    },
    { name: 'watch', help: 'follow a job', usage: '<job-id>', args: [one('job id')], options: [], run: watchJob },
    {
      name: 'change-priority',
      help: 'change priorities',
      usage:
        '{--priority <priority> | --level <number>} {[--force] {--pending | --queued | --waiting} | <job-id> [<job-id>...]}',
      args: [many('job id')],
      options: [oPriority, oLevel, oForce, oPending, oQueued, oWaiting],
      run: changePriority,
    },
  ],
}
