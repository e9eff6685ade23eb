// gnt-instance: the commands for snapshots of disks. Ganeti has none; its fork snf-ganeti has the first one.
import { timeText } from '../../lib/text/rfc3339'
import { OpInstanceRemoveSnapshot, OpInstanceRollbackSnapshot, OpInstanceSnapshot } from '../../opcodes/snapshot'
import { snapshotShape } from '../../query/object-shapes'
import { administrator, gantryOf } from '../administrator'
import { type Call, one, type Tool } from '../command'
import { JOB_OPTIONS, oDisk, oNoHeaders, oSeparator } from '../input/options'
import { enteredParams } from '../input/params'
import { EXIT } from '../outcome'
import { formatTable } from '../output/table'
import { firstArgument, submitting } from '../submit/submit'

/** `--disk 0:snapshot_name=before` */
const disksOf = ({ options }: Call) =>
  options.idents('disks').map(([ident, values]) => [identOf(ident), enteredParams(values, `disk/${ident}`)] as const)

const identOf = (text: string): string | number => (/^\d+$/.test(text) ? Number(text) : text)

const makeSnapshots = submitting(OpInstanceSnapshot, (call) => ({
  instance_name: firstArgument(call),
  disks: disksOf(call),
}))

const rollBackSnapshots = submitting(OpInstanceRollbackSnapshot, (call) => ({
  instance_name: firstArgument(call),
  disks: disksOf(call),
}))

const removeSnapshots = submitting(OpInstanceRemoveSnapshot, (call) => ({
  instance_name: firstArgument(call),
  disks: disksOf(call),
}))

const snapshotData = async (call: Call): Promise<unknown> => (await snapshotsFrom(call)).map(snapshotShape)

async function listSnapshots(call: Call): Promise<number> {
  const { options, terminal } = call
  const rows = (await snapshotsFrom(call)).map(({ disk, name, size, node, logical_id, ctime, status }) => [
    ...[String(disk), name, String(size), node ?? '-', logical_id.join('/')],
    timeText(ctime).slice(0, 16).replace('T', ' '),
    status,
  ])
  const columns = TITLES.map((title) => ({ title, alignRight: title === 'Size' }))
  const table = { headers: !options.flag('no_headers'), separator: options.text('separator') }
  for (const line of formatTable(columns, rows, table)) terminal.out(line)
  return EXIT.ok
}

const TITLES = ['Disk', 'Name', 'Size', 'Node', 'In the storage', 'Created (UTC)', 'Status']

const snapshotsFrom = (call: Call) => gantryOf(call).snapshots(administrator('root'), firstArgument(call))

export const SNAPSHOT_COMMANDS: Tool['commands'] = [
  {
    name: 'snapshot',
    help: 'make snapshots of disks, all or none, while the instance runs',
    usage: '--disk <disk>:snapshot_name=<name>[,snapshot_size=<size>]... <instance-name>',
    args: [one('instance name')],
    options: [...JOB_OPTIONS, oDisk],
    run: makeSnapshots,
  },
  {
    name: 'list-snapshots',
    help: 'list the snapshots of the disks of an instance',
    usage: '<instance-name>',
    args: [one('instance name')],
    options: [oNoHeaders, oSeparator],
    run: listSnapshots,
    data: snapshotData,
  },
  {
    name: 'rollback-snapshot',
    help: 'give the disks of a stopped instance the data of snapshots again; what was written since is lost',
    usage: '--disk <disk>:snapshot_name=<name>... <instance-name>',
    args: [one('instance name')],
    options: [...JOB_OPTIONS, oDisk],
    run: rollBackSnapshots,
  },
  {
    name: 'remove-snapshot',
    help: 'delete snapshots of disks',
    usage: '--disk <disk>:snapshot_name=<name>... <instance-name>',
    args: [one('instance name')],
    options: [...JOB_OPTIONS, oDisk],
    run: removeSnapshots,
  },
]
