// gnt-group info.
import { pythonText } from '../../lib/text/python-text'
import type { Call } from '../command'
import { groupPolicyInfo } from '../cluster/info'
import { type Info, entries, formatInfo } from '../output/info'
import { tellMissing } from '../output/missing'
import { withDefaults } from '../node/info'

const FIELDS = ['name', 'ndparams', 'custom_ndparams', 'diskparams', 'custom_diskparams', 'ipolicy', 'custom_ipolicy']

export async function showGroups(call: Call): Promise<number> {
  const groups = await call.master.queryGroups(call.args, FIELDS, false)
  for (const line of formatInfo(groups.map(groupInfo))) call.terminal.out(line)
  return tellMissing(
    call,
    'Node group',
    groups.map(([name]) => name),
  )
}

function groupInfo([
  name,
  ndparams,
  ownNdparams,
  diskparams,
  ownDiskparams,
  ipolicy,
  ownIpolicy,
]: readonly unknown[]): Info {
  return entries(
    ['Node group', pythonText(name)],
    ['Node parameters', withDefaults(ownNdparams, ndparams)],
    ['Disk parameters', withDefaults(ownDiskparams, diskparams)],
    ['Instance policy', groupPolicyInfo(asDict(ownIpolicy), asDict(ipolicy))],
  )
}

const asDict = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
