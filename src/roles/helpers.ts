// Programs of a node that are no daemons, for its scripts and for a master that comes over SSH. They have Ganeti's names.

interface Helper {
  /** One line for people: what it does. */
  readonly text: string
  readonly usage: string
  readonly about: string
}

const REQUEST =
  'It reads a request as JSON from its standard input, and refuses one of another cluster than that of this node.'

/** For scripts of this node. */
export const HELPERS: Readonly<Record<string, Helper>> = {
  'daemon-util': {
    text: 'starts, stops and asks after the daemons of this node',
    usage: 'daemon-util ACTION [DAEMON [ARGUMENTS...]]',
    about:
      'Where systemd runs the machine it gives orders to that. Elsewhere it starts the daemons itself, under their accounts and with the ' +
      'arguments of /etc/default/ganeti. It ends with 0 when what was asked for is done or the case.',
  },
  'ensure-dirs': {
    text: 'makes the directories of this node, and gives what is in them its owners and modes',
    usage: 'ensure-dirs',
    about: 'systemd runs it before daemons start. It can be repeated at any time.',
  },
}

/** A master runs them over SSH. */
export const NODE_PROGRAMS: Readonly<Record<string, Helper>> = {
  'ssh-update': {
    text: 'changes the lists of SSH keys',
    usage: 'ssh-update [--dry-run]',
    about: `${REQUEST} It adds and removes keys that may log in here, and those of other nodes, and makes new ones.`,
  },
  'prepare-node-join': {
    text: "gives this node the cluster's host keys, and lets its candidates in",
    usage: 'prepare-node-join [--dry-run]',
    about: `${REQUEST} It is the first step of gnt-node add.`,
  },
  'node-daemon-setup': {
    text: "gives it the cluster's certificate, and starts its daemons",
    usage: 'node-daemon-setup [--dry-run]',
    about: `${REQUEST} It is the second step of gnt-node add, for a machine that calls itself as the cluster does.`,
  },
  'ssl-update': {
    text: "renews or removes this node's client certificate",
    usage: 'ssl-update [--dry-run]',
    about:
      `${REQUEST} Ganeti's gnt-cluster renew-crypto --new-node-certificates runs it on every node, while the daemons are stopped. ` +
      'Its action is create, or delete for an older Ganeti that has no such certificates.',
  },
}

/** noded starts them on its node, and they go on without it. */
export const NODE_SERVERS: Readonly<Record<string, Helper>> = {
  mirrors: {
    text: "serves this node's mirrored disks in user space",
    usage: 'gantryd mirrors ROOT HOSTNAME',
    about:
      'noded starts it with the first of these disks. It ends with the last one. ROOT is empty, or the folder of a virtual node.',
  },
}

/** The actions of daemon-util. */
export const DAEMON_ACTIONS = {
  'check-config': 'whether this node has the files of a cluster',
  'check-exitcode': 'what the exit code of a daemon, which is given, means',
  'daemon-pidfile': 'prints where the number of its process is',
  'daemon-executable': 'prints its program',
  'is-daemon-name': 'whether there is a daemon of this name',
  'list-start-daemons': 'prints the daemons in the order of their start',
  'list-stop-daemons': 'prints them in the order of their end',
  check: 'whether it runs',
  start: 'starts it, this time also with the arguments that are given',
  stop: 'stops it',
  'check-and-start': 'starts it where it does not run',
  'start-master': 'starts the daemons of the master',
  'stop-master': 'stops them',
  'start-all': 'starts all that are for this node',
  'stop-all': 'stops all',
  'rotate-logs': 'has it open its log and read its certificates again',
  'rotate-all-logs': 'has all do so',
  'reload-ssh-keys': 'has the SSH daemon read its host keys again',
} as const
export type DaemonAction = keyof typeof DAEMON_ACTIONS
