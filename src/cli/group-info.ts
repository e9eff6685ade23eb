import { type Call, EXIT } from './command'
import { policyInfo } from './cluster-info'
import { namesFilter } from './filter-text'
import { pythonText } from './format'
import { type Info, entries, formatInfo } from './info'
import { withDefaults } from './node-info'

const FIELDS = ['name', 'ndparams', 'custom_ndparams', 'diskparams', 'custom_diskparams', 'ipolicy', 'custom_ipolicy']

export async function showGroups({ args, master, terminal }: Call): Promise<number> {
  const { data } = await master.query('group', FIELDS, namesFilter('name', args))
  const groups = data.map((row) => groupInfo(row.map(([, value]) => value)))
  for (const line of formatInfo(groups)) terminal.out(line)
  return EXIT.ok
}

function groupInfo([name, ndparams, ownNdparams, diskparams, ownDiskparams, ipolicy]: readonly unknown[]): Info {
  const templates = Object.entries(asDict(diskparams)).sort(([a], [b]) => (a < b ? -1 : 1))
  return entries(
    ['Node group', pythonText(name)],
    ['Node parameters', withDefaults(ownNdparams, ndparams)],
    [
      'Disk parameters',
      new Map(templates.map(([template, params]) => [template, withDefaults(asDict(ownDiskparams)[template], params)])),
    ],
    ['Instance policy', policyInfo(asDict(ipolicy))],
  )
}

const asDict = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
