// The DRBD minors of a node. Ganeti asks confd; the disks of the node's instances have the same facts.
import { OpInstanceQueryData } from '../../opcodes/instance'
import type { Call, Command } from '../command'
import { CommandFailure, EXIT } from '../outcome'
import { firstArgument, opcodeOf } from '../submit/submit'
import { formatTable } from '../output/table'

const TITLES = { node: 'Node', minor: 'Minor', instance: 'Instance', disk: 'Disk', role: 'Role', peer: 'PeerNode' }

export const listDrbd: Pick<Command, 'run' | 'data'> = {
  async run(call) {
    const { options, terminal } = call
    const columns = Object.values(TITLES).map((title) => ({ title, alignRight: title === TITLES.minor }))
    const style = { headers: !options.flag('no_headers'), separator: options.text('separator') }
    for (const line of formatTable(columns, await minors(call), style)) terminal.out(line)
    return EXIT.ok
  },
  async data(call) {
    const names = Object.keys(TITLES)
    const rows = await minors(call)
    return rows.map((row) => ({
      ...Object.fromEntries(names.map((name, at) => [name, row[at]])),
      minor: Number(row[1]),
    }))
  },
}

async function minors(call: Call): Promise<string[][]> {
  const { master, jobs } = call
  const [node] = await master.queryNodes([firstArgument(call)], ['name', 'pinst_list', 'sinst_list'], false)
  if (node === undefined) throw new CommandFailure(`Node '${firstArgument(call)}' not known`)
  const [name, ...lists] = node
  const instances = lists.flatMap((list) => (Array.isArray(list) ? list.map(String) : []))
  const answer =
    instances.length === 0 ? {} : await jobs.run(opcodeOf(OpInstanceQueryData, { instances, static: true }))
  return Object.values(dict(answer))
    .flatMap((instance) => minorsOf(dict(instance)))
    .filter((row) => row[0] === name)
    .sort(([, left], [, right]) => Number(left) - Number(right))
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
