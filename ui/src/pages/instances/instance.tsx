// An instance's data and texts for lists and for its page.
import type { Named } from '../../api/named'
import type { components } from '../../api/schema'
import { Status, type Tone } from '../../parts/status'
import { texts } from '../../texts'
import { type Shown, stateOf } from './state'

export type Instance = Named<components['schemas']['InstanceView']> & {
  /** Why its node cannot make a snapshot, if the page has asked. */
  readonly snapshotProblem?: string
}

const TONES: Readonly<Record<string, Tone>> = {
  running: 'good',
  ADMIN_down: 'off',
  ADMIN_offline: 'off',
  USER_down: 'off',
  ERROR_up: 'warn',
  ERROR_down: 'bad',
  ERROR_nodedown: 'bad',
  ERROR_nodeoffline: 'bad',
  ERROR_wrongnode: 'bad',
}

export const INSTANCE_STATES = Object.keys(TONES)
export const BAD_STATES = INSTANCE_STATES.filter((state) => state.startsWith('ERROR'))

export function InstanceStatus({ of }: { of: Shown }) {
  const state = stateOf(of)
  if (state === undefined) return <>–</>
  return (
    <Status
      tone={state === 'half_made' ? 'warn' : (TONES[state] ?? 'off')}
      text={texts.instances.status[state] ?? state}
    />
  )
}
