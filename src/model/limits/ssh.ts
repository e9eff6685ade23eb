// SSH between nodes: its keys, its programs, and nodes that join.

/** How long the daemon of a node that is to join may take to answer. */
export const NODE_DAEMON_READY_S = 60
/** Seconds that a command on another node over SSH may take; for new keys, and for telling them, tries and seconds of each. */
export const SSH_S = 30
export const SSH_TRIES_MAX = 3
export const SSH_UPDATE_S = 30
/** Seconds that a new key may take; an RSA key is slow. */
export const SSH_GENERATE_S = 120
/** Seconds that the SSH daemon of a node that joins may take to read its new keys. */
export const SSHD_RELOAD_S = 30
/** Nodes that are told about SSH keys at the same time; each costs a process of ssh. */
export const SSH_NODES_AT_ONCE = 10
/** Bytes that a program reads which another node runs over SSH: a list of the keys of all nodes is the largest input. */
export const SSH_INPUT_BYTES_MAX = 4 << 20
