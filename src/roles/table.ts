// All roles. A new daemon begins with its entry here; CONTRIBUTING.md says what else it needs.
import { EXIT, PORT, USER } from '../model/constants/daemons'
import { YOUNG_MIB } from '../model/limits/daemons'
import type { Role } from './role'

const NOT_MASTER = { [EXIT.notMaster]: 'the other nodes do not say that this node is the master' }
const VOTES = ['no-voting', 'yes-do-it'] as const

export const ROLES = [
  {
    name: 'node',
    program: 'ganeti-node',
    text: "this node's daemons: starts them, and starts them again when they die",
    place: 'system',
    user: USER.noded,
    log: 'node',
    options: ['simulated', 'give', ...VOTES],
    young_mib: YOUNG_MIB.node,
  },
  {
    name: 'noded',
    program: 'ganeti-noded',
    text: 'obeys the master on this node',
    place: 'node',
    nodes: 'real',
    user: USER.noded,
    port: { protocol: 'tcp', number: PORT.noded },
    log: 'node-daemon',
    options: ['bind', 'port'],
    young_mib: YOUNG_MIB.node,
  },
  {
    name: 'kvmd',
    program: 'ganeti-kvmd',
    text: 'notices guests that their users shut down',
    place: 'node',
    nodes: 'real',
    lines: { hypervisor_list: 'kvm', enabled_user_shutdown: 'True' },
    user: USER.kvmd,
    log: 'kvm-daemon',
    options: [],
    young_mib: YOUNG_MIB.node,
  },
  {
    name: 'sim',
    program: 'ganeti-sim',
    text: 'answers for all nodes of a recorded cluster',
    place: 'node',
    nodes: 'simulated',
    user: USER.noded,
    log: 'sim',
    options: ['config', 'state', 'socket'],
  },
  {
    name: 'mond',
    program: 'ganeti-mond',
    text: 'tells how this node is',
    place: 'node',
    user: USER.noded,
    port: { protocol: 'tcp', number: PORT.mond },
    log: 'monitoring-daemon',
    options: ['bind', 'port', 'plugins', 'access-log'],
    after: ['sim'],
    young_mib: YOUNG_MIB.node,
  },
  {
    name: 'confd',
    program: 'ganeti-confd',
    text: 'answers signed questions about the configuration',
    place: 'candidate',
    user: USER.confd,
    port: { protocol: 'udp', number: PORT.confd },
    log: 'conf-daemon',
    options: ['bind', 'port'],
    young_mib: YOUNG_MIB.node,
  },
  {
    name: 'wconfd',
    program: 'ganeti-wconfd',
    text: 'keeps the configuration and the locks',
    place: 'master',
    user: USER.masterd,
    sockets: ['wconfd', 'follow'],
    log: 'wconf-daemon',
    options: VOTES,
    exits: NOT_MASTER,
  },
  {
    name: 'luxid',
    program: 'ganeti-luxid',
    text: 'keeps the job queue and answers questions',
    place: 'master',
    user: USER.masterd,
    sockets: ['query', 'master'],
    log: 'luxi-daemon',
    options: VOTES,
    exits: NOT_MASTER,
    after: ['wconfd'],
  },
  {
    name: 'rapi',
    program: 'ganeti-rapi',
    text: 'the remote API',
    place: 'master',
    user: USER.rapi,
    port: { protocol: 'tcp', number: PORT.rapi },
    log: 'rapi-daemon',
    options: ['bind', 'port', ...VOTES, 'no-require-authentication', 'require-authentication', 'access-log'],
    exits: NOT_MASTER,
    after: ['luxid'],
  },
] as const satisfies readonly Role[]

export type RoleName = (typeof ROLES)[number]['name']

export const roleNamed = (name: string): (Role & { readonly name: RoleName }) | undefined =>
  ROLES.find((role) => role.name === name)
