// The DRBD minors of a node. Ganeti asks confd; the same facts are in the disks of the node's instances.
import { OpInstanceQueryData } from '../opcodes/instance'
import { type Call, CommandFailure, EXIT } from './command'
import { firstArgument, opcodeOf } from './submit'
import { formatTable } from './table'

export async function listDrbd(call: Call): Promise<number> {
  const { options, terminal, master, jobs } = call
  const [node] = await master.queryNodes([firstArgument(call)], ['name', 'pinst_list', 'sinst_list'], false)
  if (node === undefined) throw new CommandFailure(`Node '${firstArgument(call)}' not known`)
  const [name, ...lists] = node
  const instances = lists.flatMap((list) => (Array.isArray(list) ? list.map(String) : []))
  const answer =
    instances.length === 0 ? {} : await jobs.run(opcodeOf(OpInstanceQueryData, { instances, static: true }))
  const rows = Object.values(dict(answer))
    .flatMap((instance) => minorsOf(dict(instance)))
    .filter((row) => row[0] === name)
    .sort(([, left], [, right]) => Number(left) - Number(right))
  const titles = ['Node', 'Minor', 'Instance', 'Disk', 'Role', 'PeerNode']
  const columns = titles.map((title) => ({ title, alignRight: title === 'Minor' }))
  const style = { headers: !options.flag('no_headers'), separator: options.text('separator') }
  for (const line of formatTable(columns, rows, style)) terminal.out(line)
  return EXIT.ok
}

function minorsOf(instance: Dict): string[][] {
  const disks: unknown = instance['disks']
  return (Array.isArray(disks) ? disks : []).flatMap((disk) => {
    const { iv_name, drbd_info } = dict(disk)
    if (typeof drbd_info !== 'object' || drbd_info === null) return []
    const { primary_node, primary_minor, secondary_node, secondary_minor } = dict(drbd_info)
    const row = (node: unknown, minor: unknown, peer: unknown) => {
      const role = node === instance['pnode'] ? 'primary' : 'secondary'
      return [node, minor, instance['name'], iv_name, role, peer].map(String)
    }
    return [row(primary_node, primary_minor, secondary_node), row(secondary_node, secondary_minor, primary_node)]
  })
}

type Dict = Readonly<Record<string, unknown>>

const dict = (value: unknown): Dict => (typeof value === 'object' && value !== null ? { ...value } : {})
