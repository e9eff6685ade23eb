// Opcodes that exercise the job queue, locks and allocators.
import { listOf } from '../lib/shapes/containers'
import { any, bool, float, int, nonEmpty, nonNegative, none, text } from '../lib/shapes/leaves'
import {
  pDiskTemplate,
  pHypervisor,
  pIallocator,
  pOptionalGroupName,
  pOsparamsSecret,
  pTags,
  pTargetGroups,
} from './common'
import { maybe, naming, opcode, opt, req } from './opcode'
import { allocatorMode, allocatorTestDir, evacMode, nicParams } from './types'

export const OpTestDelay = opcode('OP_TEST_DELAY', {
  doc: 'Sleeps on master and/or nodes.',
  permission: 'tests.delay',
  summary: ({ duration }) => `${Math.round(Number(duration) * 1e9)} ns`,
  result: none,
  params: {
    duration: req(float, 'Seconds'),
    on_master: opt(bool, true, 'Sleep on the master'),
    on_nodes: naming('node', opt(listOf(nonEmpty), [], 'Sleep on these nodes')),
    on_node_uuids: naming('node', maybe(listOf(nonEmpty), 'Sleep on these nodes (UUIDs)')),
    repeat: opt(nonNegative(int), 0, 'Extra repetitions'),
    interruptible: opt(bool, false, 'Allow interruption through a socket'),
    no_locks: opt(bool, true, 'Take no node locks'),
  },
})

export const OpTestAllocator = opcode('OP_TEST_ALLOCATOR', {
  doc: 'Builds (direction in) or runs (direction out) an allocator request; returns text.',
  permission: 'tests.allocator',
  summary: ({ iallocator }) => String(iallocator ?? 'None'),
  result: text,
  params: {
    direction: req(allocatorTestDir, 'In = show request, out = run it'),
    mode: req(allocatorMode, 'Allocator request type'),
    name: req(nonEmpty, 'Name'),
    nics: maybe(listOf(nicParams), 'NICs'),
    disks: maybe(listOf(any), 'Disks'),
    hypervisor: pHypervisor,
    iallocator: pIallocator,
    tags: pTags,
    memory: maybe(nonNegative(int), 'Memory in MiB'),
    vcpus: maybe(nonNegative(int), 'Virtual CPUs'),
    os: maybe(nonEmpty, 'OS name'),
    disk_template: pDiskTemplate,
    instances: naming('instance', maybe(listOf(nonEmpty), 'Instances')),
    evac_mode: maybe(evacMode, 'Evacuation mode'),
    target_groups: pTargetGroups,
    spindle_use: opt(nonNegative(int), 1, 'Spindle weight'),
    count: opt(nonNegative(int), 1, 'Number of nodes/instances'),
    group_name: pOptionalGroupName,
  },
})

export const OpTestJqueue = opcode('OP_TEST_JQUEUE', {
  doc: 'Exercises job queue notifications.',
  permission: 'tests.jqueue',
  result: bool,
  params: {
    notify_waitlock: opt(bool, false, 'Notify while waiting for locks'),
    notify_exec: opt(bool, false, 'Notify when execution starts'),
    log_messages: opt(listOf(text), [], 'Messages to log'),
    fail: opt(bool, false, 'Finish with failure'),
  },
})

export const OpTestOsParams = opcode('OP_TEST_OS_PARAMS', {
  doc: 'Checks transport of secret OS parameters.',
  permission: 'tests.os_params',
  result: none,
  params: {
    osparams_secret: pOsparamsSecret,
  },
})

export const OpTestDummy = opcode('OP_TEST_DUMMY', {
  doc: 'Dummy for unit tests; no LU.',
  permission: 'tests.dummy',
  forOthers: true,
  result: none,
  params: {
    result: req(any, 'Value to return'),
    messages: req(any, 'Messages to emit'),
    fail: req(any, 'Finish with failure'),
    submit_jobs: req(any, 'Jobs to submit from inside'),
  },
  testOnly: true,
})
