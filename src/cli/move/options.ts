// Options of move-instance. Names and defaults are Ganeti's.
import { PORT } from '../../model/constants/daemons'
import { OPPORTUNISTIC_DELAY_S } from '../../model/limits/move'
import { OpInstanceCreate } from '../../opcodes/instance'
import { flag, parameter, value } from '../input/option'

export const MOVE_OPTIONS = [
  value('--src-rapi-port', 'src_rapi_port', 'int', 'port of the source', {
    default: PORT.rapi,
  }),
  value('--src-ca-file', 'src_ca_file', 'string', 'certificates that the source is known by'),
  value('--src-username', 'src_username', 'string', 'user at the source'),
  value('--src-password-file', 'src_password_file', 'string', 'file with its password'),
  value('--dest-rapi-port', 'dest_rapi_port', 'int', 'port of the destination, default that of the source'),
  value('--dest-ca-file', 'dest_ca_file', 'string', 'default that of the source'),
  value('--dest-username', 'dest_username', 'string', 'default that of the source'),
  value('--dest-password-file', 'dest_password_file', 'string', 'default that of the source'),
  value('--dest-instance-name', 'dest_instance_name', 'string', 'its new name'),
  value('--dest-primary-node', 'dest_primary_node', 'string', 'its new primary node'),
  value('--dest-secondary-node', 'dest_secondary_node', 'string', 'its new secondary node'),
  parameter(OpInstanceCreate, 'disk_template', {
    long: '--dest-disk-template',
    help: 'its new disk template, default as before',
  }),
  value('--parallel', 'parallel', 'int', 'instances that move at the same time', {
    short: '-p',
    default: 1,
    metavar: '<number>',
  }),
  value(
    '--opportunistic-tries',
    'opportunistic_tries',
    'int',
    'attempts with the nodes whose locks are free, before one that waits for all',
    { metavar: '<number>' },
  ),
  value(
    '--opportunistic-delay',
    'opportunistic_delay',
    'int',
    `seconds between these attempts, default ${OPPORTUNISTIC_DELAY_S}`,
    { metavar: '<number>' },
  ),
  flag(
    '--keep-source-instance',
    'keep_source_instance',
    'do not remove it at the source; it runs in both clusters if it ran before',
  ),
]
