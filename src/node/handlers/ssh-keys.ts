// Node calls about SSH keys. Only the master gets these calls. It changes the other nodes over SSH.
import { SSH_KEY_TYPES } from '../../lib/ssh/files'
import type { Handlers } from '../context'
import { fail } from '../failure'
import { renewKeys } from '../ssh/renew'
import { addKey, removeKey } from '../ssh/distribute-keys'

export const sshKeyHandlers = {
  node_ssh_key_add: (context, uuid, name, potentialCandidates, toAuthorizedKeys, toPublicKeys, getPublicKeys) =>
    addKey(context, { uuid, name }, { potentialCandidates, toAuthorizedKeys, toPublicKeys, getPublicKeys }),

  node_ssh_key_remove: (context, uuid, name, candidateUuids, potentialCandidates, ...[authorized, listed, ...clear]) =>
    removeKey(
      context,
      { uuid, name },
      {
        ...{ candidateUuids, potentialCandidates, fromAuthorizedKeys: authorized, fromPublicKeys: listed },
        ...{ clearAuthorizedKeys: clear[0], clearPublicKeys: clear[1], readd: clear[2] },
      },
    ),

  node_ssh_keys_renew: (context, uuids, names, candidateUuids, potentialCandidates, oldType, newType, bits) => {
    if (uuids.length !== names.length) fail('List of nodes UUIDs and node names does not match in length.')
    const known = SSH_KEY_TYPES.find((type) => type === newType)
    if (known === undefined) fail(`Unknown type of SSH keys '${newType}', known are ${SSH_KEY_TYPES.join(', ')}`)
    const nodes = uuids.map((uuid, index) => ({ uuid, name: names[index] ?? '' }))
    return renewKeys(context, {
      ...{ nodes, candidateUuids, potentialCandidates, oldType, newType: known, bits },
    })
  },
} satisfies Partial<Handlers>
