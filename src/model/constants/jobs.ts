// Jobs and opcodes: states, priorities, log entry types, queue numbers.

/** Lower runs sooner. */
export const PRIORITY = { lowest: 19, low: 10, normal: 0, high: -10, highest: -20 } as const
export const PRIORITIES_AT_SUBMIT: readonly number[] = [-10, 0, 10]

export const LOG_TYPE = {
  message: 'message',
  messageList: 'message-list',
  remoteImport: 'remote-import',
  jqueueTest: 'jqueue-test',
  delayTest: 'delay-test',
} as const
export const MAX_RUNNING_JOBS = 20
export const MAX_TRACKED_JOBS = 25

/** The error of opcodes that did not begin because an earlier one failed. */
export const PRECEDING_FAILED = ['OpExecError', ['Preceding opcode failed']] as const
