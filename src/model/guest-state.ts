// Machines without a guest that could run there. QEMU names their states; Ganeti's nodes do not tell them.

/** Before and after a migration. The guest runs on another node, if anywhere. */
const GUEST_ELSEWHERE: readonly string[] = ['inmigrate', 'finish-migrate', 'postmigrate']

/** The machine of a guest that a migration takes to another node, or has not brought yet: it is no running guest. */
export const isGuestElsewhere = ({ machine_state: state }: { readonly machine_state?: string | undefined }): boolean =>
  state !== undefined && GUEST_ELSEWHERE.includes(state)
