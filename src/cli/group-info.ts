import { pythonText } from '../lib/python-text'
import { type Call, EXIT } from './command'
import { groupPolicyInfo } from './cluster-info'
import { type Info, entries, formatInfo } from './info'
import { withDefaults } from './node-info'

const FIELDS = ['name', 'ndparams', 'custom_ndparams', 'diskparams', 'custom_diskparams', 'ipolicy', 'custom_ipolicy']

export async function showGroups({ args, master, terminal }: Call): Promise<number> {
  const groups = (await master.queryGroups(args, FIELDS, false)).map(groupInfo)
  for (const line of formatInfo(groups)) terminal.out(line)
  return EXIT.ok
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
