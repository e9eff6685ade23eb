// A node's data and texts for lists and for its page.
import type { Named } from '../../api/named'
import type { components } from '../../api/schema'
import { Status, type Tone } from '../../parts/status'
import { texts } from '../../texts'

export type ClusterNode = Named<components['schemas']['NodeView']>

/** Whether a program switches the node on and off. */
export const hasHelper = ({ ndparams }: ClusterNode): boolean => Boolean(ndparams?.['oob_program'])

const TONES: Readonly<Record<string, Tone>> = { M: 'good', C: 'good', R: 'good', D: 'warn', O: 'bad' }

export const NodeRole = ({ role }: { role: string | null | undefined }) => (
  <Status tone={TONES[role ?? ''] ?? 'off'} text={texts.nodes.role[role ?? ''] ?? role ?? '–'} />
)
