// The JSON that Ganeti's programs for the setup of a node read from standard input, when the master runs them over SSH (spec: constants.json
// "nodes").
import { dictOf, listOf, tuple } from '../../lib/shapes/containers'
import { bool, int, nonEmpty, oneOf, positive, text } from '../../lib/shapes/leaves'
import { partialOf } from '../../lib/shapes/objects'
import type { ValueOf } from '../../lib/shapes/shape'
import { sshKeyType } from '../../opcodes/types'

/** A node's uuid -> its public keys. */
const keysOfNodes = dictOf(listOf(nonEmpty), nonEmpty)
const listAction = oneOf('PublicKeysAction', ['add', 'clear', 'override', 'remove', 'replace_or_add'])
const authorizedAction = oneOf('AuthorizedKeysAction', ['add', 'remove'])

/** `ssh-update`: changes the key files of a node that is in the cluster. Everything but the sender is optional. */
export const keyUpdate = partialOf(
  {
    cluster_name: nonEmpty,
    /** Without its private key: it says which cluster speaks. */
    node_daemon_certificate: nonEmpty,
    public_keys: tuple(listAction, keysOfNodes),
    authorized_keys: tuple(authorizedAction, keysOfNodes),
    /** Type, bits, and a suffix that keeps the new keys beside those in use. */
    generate: tuple(sshKeyType, positive(int), text),
    ssh_key_type: sshKeyType,
    ssh_key_bits: positive(int),
  },
  { others: 'refused' },
)
export type KeyUpdate = ValueOf<typeof keyUpdate>

/** Type, private and public key. */
const keyPairs = listOf(tuple(sshKeyType, nonEmpty, nonEmpty))

/** `prepare-node-join`: gives a node that is to join the cluster's host keys, and lets the candidates in. */
export const joinRequest = partialOf(
  {
    cluster_name: nonEmpty,
    node_daemon_certificate: nonEmpty,
    ssh_host_key: keyPairs,
    ssh_root_key: keyPairs,
    authorized_keys: keysOfNodes,
    ssh_key_type: sshKeyType,
    ssh_key_bits: positive(int),
  },
  { others: 'refused' },
)
export type JoinRequest = ValueOf<typeof joinRequest>

/** `node-daemon-setup`: gives it what noded needs, and starts that. */
export const daemonSetup = partialOf(
  {
    cluster_name: nonEmpty,
    /** With its private key. */
    node_daemon_certificate: nonEmpty,
    hmac_key: nonEmpty,
    ssconf: dictOf(text, nonEmpty),
    start_node_daemon: bool,
    node_name: nonEmpty,
  },
  { others: 'refused' },
)
export type DaemonSetup = ValueOf<typeof daemonSetup>
