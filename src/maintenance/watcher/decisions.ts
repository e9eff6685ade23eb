// Decides what the watcher does for a node group: pure functions of the cluster's state, the memory and the time, with
// the rules of Ganeti's watcher.
import type { InstanceStatus } from '../../model/constants/words'
import { WATCHER_TRIES_MAX } from '../../model/limits/watcher'
import { forgetOld, type Memory, type Tries } from './memory'

export interface WatchedInstance {
  readonly name: string
  readonly status: InstanceStatus
  readonly adminState: string
  readonly disksActive: boolean
  readonly secondaries: readonly string[]
  readonly template: string
}

export interface WatchedNode {
  readonly name: string
  /** Null for a node that does not answer. */
  readonly bootId: string | null
  readonly offline: boolean
}

/** A node group, with the instances whose primary nodes are in it. */
export interface GroupState {
  readonly instances: ReadonlyMap<string, WatchedInstance>
  readonly nodes: ReadonlyMap<string, WatchedNode>
  /** Names of instances that jobs are working on. */
  readonly locked: ReadonlySet<string>
}

/** An instance with a problem that the watcher does not touch. */
export interface Left {
  readonly name: string
  readonly why: string
}

export interface InstanceDecisions {
  /** Instances to start, with the number of the attempt. */
  readonly restart: readonly { readonly name: string; readonly attempt: number }[]
  /** Instances that their users have shut down: the cluster should want them down, too. */
  readonly cleanUp: readonly string[]
  /** All attempts were used up before this run. */
  readonly gaveUp: readonly string[]
  readonly left: readonly Left[]
  /** Already includes this run's attempts: a killed run has used them. */
  readonly memory: Memory
}

const HELPLESS: readonly InstanceStatus[] = ['ERROR_nodedown', 'ERROR_nodeoffline']
const EXHAUSTED = `it has been tried ${WATCHER_TRIES_MAX} times; "gnt instance start" or 8 hours without another try begin anew`

interface Rules {
  /** These are all instances of the group, so others are gone. */
  readonly all?: boolean
  /** A running instance counts as started when so many seconds have passed since the last attempt. */
  readonly settle_s?: number
}

export function decideInstances(
  state: GroupState,
  former: Memory,
  now_s: number,
  { all = true, settle_s = 0 }: Rules = {},
): InstanceDecisions {
  const memory = forgetOld(former, (name) => !all || state.instances.has(name), now_s)
  const tries: Record<string, Tries> = { ...memory.instance }
  const restart: { name: string; attempt: number }[] = []
  const cleanUp: string[] = []
  const gaveUp: string[] = []
  const left: Left[] = []
  for (const { name, status, adminState } of state.instances.values()) {
    const { restart_count = 0, restart_when = 0, cleanup_count = 0 } = tries[name] ?? {}
    if (status === 'USER_down' && adminState !== 'down') {
      if (state.locked.has(name)) left.push({ name, why: 'its user has shut it down, and a job works on it' })
      else if (cleanup_count > WATCHER_TRIES_MAX) left.push({ name, why: `cleaning up: ${EXHAUSTED}` })
      else {
        cleanUp.push(name)
        tries[name] = { ...tries[name], cleanup_count: cleanup_count + 1, cleanup_when: now_s }
      }
    } else if (status === 'ERROR_down') {
      if (restart_count > WATCHER_TRIES_MAX) {
        left.push({ name, why: `starting: ${EXHAUSTED}` })
        continue
      }
      if (restart_count === WATCHER_TRIES_MAX) gaveUp.push(name)
      else restart.push({ name, attempt: restart_count + 1 })
      tries[name] = { ...tries[name], restart_count: restart_count + 1, restart_when: now_s }
      // One that crashes again and again runs in between.
    } else if (restart_count > 0 && (status !== 'running' || now_s - restart_when >= settle_s)) delete tries[name]
  }
  return { restart, cleanUp, gaveUp, left, memory: { ...memory, instance: tries } }
}

export interface Outcomes {
  /** Successful clean-ups, which need not be remembered. */
  readonly cleanedUp: ReadonlySet<string>
  /** The queue refused these jobs, so nothing was tried. */
  readonly refused: ReadonlySet<string>
}

export function afterTries(memory: Memory, former: Memory, { cleanedUp, refused }: Outcomes): Memory {
  const kept = Object.entries(memory.instance).flatMap(([name, tries]) => {
    if (cleanedUp.has(name)) return []
    const remembered = refused.has(name) ? former.instance[name] : tries
    return remembered === undefined ? [] : [[name, remembered] as const]
  })
  return { ...memory, instance: Object.fromEntries(kept) }
}

export interface DiskDecisions {
  readonly activate: readonly string[]
  readonly memory: Memory
}

/** A rebooted node has lost the other halves of disks. Those of instances that were just started are back. */
export function decideDisks(state: GroupState, memory: Memory, started: ReadonlySet<string>): DiskDecisions {
  const booted = [...state.nodes.values()].filter(
    ({ name, bootId }) => bootId !== null && memory.node[name]?.bootid !== bootId,
  )
  const names = new Set(booted.map(({ name }) => name))
  const activate = [...state.instances.values()]
    .filter(({ name, disksActive, secondaries }) => {
      return disksActive && !started.has(name) && secondaries.some((node) => names.has(node))
    })
    .map(({ name }) => name)
  const boots = booted.map(({ name, bootId }) => [name, { bootid: bootId ?? '' }] as const)
  return { activate, memory: { ...memory, node: { ...memory.node, ...Object.fromEntries(boots) } } }
}

/** Storage that cannot report, such as external providers', is not asked. */
export const verifiesDisks = ({ instances }: GroupState): boolean =>
  [...instances.values()].some(({ template }) => template !== 'ext')

/** Instances with inactive or degraded disks, according to a verification, that can be helped. */
export function decideVerified({ instances, nodes }: GroupState, found: readonly string[]): string[] {
  return found.filter((name) => {
    const instance = instances.get(name)
    if (instance === undefined || HELPLESS.includes(instance.status)) return false
    return !instance.secondaries.some((node) => nodes.get(node)?.offline === true)
  })
}
