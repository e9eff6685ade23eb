// SSH between nodes: its keys, its programs, and nodes that join.

/** Seconds for the daemon of a joining node to answer. */
export const NODE_DAEMON_READY_S = 60
/** Seconds for a command on another node over SSH; for new keys and their distribution, tries and seconds of each. */
export const SSH_S = 30
export const SSH_TRIES_MAX = 3
export const SSH_UPDATE_S = 30
/**
 * Seconds for what a person does at a terminal, such as typing a password, and for a command of the administrator on a
 * node: he can interrupt both.
 */
export const PERSON_S = 3600
export const NODE_COMMAND_S = 86_400
/** Seconds for making a key; an RSA key is slow. */
export const SSH_GENERATE_S = 120
/** Seconds for a joining node's SSH daemon to read its new keys. */
export const SSHD_RELOAD_S = 30
/** Nodes that are told SSH keys at the same time; each costs an ssh process. */
export const SSH_NODES_AT_ONCE = 10
/** Bytes of input for a program that another node runs over SSH. The largest input is the list of all nodes' keys. */
export const SSH_INPUT_BYTES_MAX = 4 << 20
