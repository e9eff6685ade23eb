// The TypeScript types of fields whose kind is `other`, for the answers of the HTTP APIs. The wire does not tell these types.

/** The type of one field of one kind of object. For a field with a slash, the part before the slash may decide. */
export function shapeOf(kind: string, field: string): string {
  const [group] = field.split(/(?<=\/)/)
  const shape = SHAPES[`${kind}.${field}`] ?? SHAPES[`*.${field}`] ?? SHAPES[`*.${group}`] ?? deviceShape(field)
  if (shape === undefined) throw new Error(`${kind}.${field}: scripts/field-shapes.ts does not say what it looks like`)
  return shape === 'unknown' ? shape : `${shape} | null`
}

/** `nic.ips`: one value for each device, null for one that has none. */
function deviceShape(field: string): string | undefined {
  if (!/^(nic|disk)\./.test(field)) return undefined
  return field === 'disk.sizes' || field === 'disk.spindles' ? '(number | null)[]' : '(string | null)[]'
}

const TEXTS = 'string[]'
const PARAMETERS = '{ [name: string]: unknown }'
const PARAMETERS_BY_NAME = '{ [name: string]: { [name: string]: unknown } }'
const PLAIN = 'string | number | boolean'
const MOMENT = 'number[]'
const MOMENTS = '(number[] | null)[]'

const SHAPES: Readonly<Record<string, string>> = {
  '*.tags': TEXTS,
  '*.hv/': PLAIN,
  '*.be/': PLAIN,
  '*.ndp/': PLAIN,
  '*.ndparams': PARAMETERS,
  '*.custom_ndparams': PARAMETERS,
  '*.ipolicy': PARAMETERS,
  '*.custom_ipolicy': PARAMETERS,
  '*.diskparams': PARAMETERS_BY_NAME,
  '*.custom_diskparams': PARAMETERS_BY_NAME,
  '*.pinst_list': TEXTS,
  '*.sinst_list': TEXTS,
  '*.node_list': TEXTS,
  '*.osparams': PARAMETERS,
  'Filter.action': 'unknown',
  'Filter.predicates': 'unknown[][]',
  'Filter.priority': 'number',
  'Filter.reason_trail': 'unknown[][]',
  'Filter.uuid': 'string',
  'Filter.watermark': 'number',
  'Instance.beparams': PARAMETERS,
  'Instance.custom_beparams': PARAMETERS,
  'Instance.hvparams': PARAMETERS,
  'Instance.custom_hvparams': PARAMETERS,
  'Instance.custom_nicparams': '{ [name: string]: unknown }[]',
  'Instance.custom_osparams': PARAMETERS,
  'Instance.console': PARAMETERS,
  'Instance.network_port': 'number',
  'Instance.snodes': TEXTS,
  'Instance.snodes.group': TEXTS,
  'Instance.snodes.group.uuid': TEXTS,
  'Job.received_ts': MOMENT,
  'Job.start_ts': MOMENT,
  'Job.end_ts': MOMENT,
  'Job.opstart': MOMENTS,
  'Job.opexec': MOMENTS,
  'Job.opend': MOMENTS,
  'Job.ops': '{ [parameter: string]: unknown }[]',
  'Job.oplog': 'unknown[][][]',
  'Instance.user_nics': 'number[]',
  'Job.oppriority': 'number[]',
  'Job.opresult': 'unknown[]',
  'Job.opstatus': TEXTS,
  'Job.summary': TEXTS,
  'Lock.mode': 'string',
  'Lock.name': 'string',
  'Lock.owner': TEXTS,
  'Lock.pending': 'unknown[][]',
  'Network.gateway': 'string',
  'Network.gateway6': 'string',
  'Network.group_list': 'string[][]',
  'Network.inst_list': TEXTS,
  'Network.mac_prefix': 'string',
  'Network.network6': 'string',
  'Node.disk_state': PARAMETERS,
  'Node.hv_state': PARAMETERS,
  'Os.api_versions': 'number[]',
  'Os.node_status': '{ [node: string]: unknown[][] }',
  'Os.os_hvp': PARAMETERS_BY_NAME,
  'Os.parameters': 'string[][]',
  'Os.variants': TEXTS,
}
