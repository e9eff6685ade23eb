// The JSON input of Ganeti's node set-up programs, which the master runs over SSH (spec: constants.json "nodes").
import { dictOf, listOf, tuple } from '../../lib/shapes/containers'
import { bool, int, nonEmpty, oneOf, positive, text } from '../../lib/shapes/leaves'
import { partialOf } from '../../lib/shapes/objects'
import type { ValueOf } from '../../lib/shapes/shape'
import { sshKeyType } from '../../opcodes/types'

/** Public keys by a node's uuid. */
const keysOfNodes = dictOf(listOf(nonEmpty), nonEmpty)
const listAction = oneOf('PublicKeysAction', ['add', 'clear', 'override', 'remove', 'replace_or_add'])
const authorizedAction = oneOf('AuthorizedKeysAction', ['add', 'remove'])

/** `ssh-update`: changes the key files of a node in the cluster. Only the sender is required. */
export const keyUpdate = partialOf(
  {
    cluster_name: nonEmpty,
    /** Without the private key; it identifies the cluster. */
    node_daemon_certificate: nonEmpty,
    public_keys: tuple(listAction, keysOfNodes),
    authorized_keys: tuple(authorizedAction, keysOfNodes),
    /** Type, bits, and a suffix that keeps the new keys beside the current ones. */
    generate: tuple(sshKeyType, positive(int), text),
    ssh_key_type: sshKeyType,
    ssh_key_bits: positive(int),
  },
  { others: 'refused' },
)
export type KeyUpdate = ValueOf<typeof keyUpdate>

/** Type, private and public key. */
const keyPairs = listOf(tuple(sshKeyType, nonEmpty, nonEmpty))

/** `prepare-node-join`: gives a joining node the cluster's host keys, and lets the candidates log in. */
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

/** `node-daemon-setup`: gives a node the files that noded needs, and starts noded. */
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

/** `ssl-update`: renews or removes a node's client certificate, while the master's daemons are stopped. */
export const certificateUpdate = partialOf(
  {
    cluster_name: nonEmpty,
    /** With its private key. */
    node_daemon_certificate: nonEmpty,
    node_name: nonEmpty,
    action: oneOf('CertificateAction', ['create', 'delete']),
  },
  { others: 'refused' },
)
export type CertificateUpdate = ValueOf<typeof certificateUpdate>
