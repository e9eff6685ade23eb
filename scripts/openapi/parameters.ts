// Describes the parameters in addresses for the OpenAPI document: their meaning and their allowed values.
import type { Schema } from '../../src/lib/shapes/shape'
import { resource } from '../../src/rpc/luxi/call-arguments'
import { exportMode, migrationMode, rebootType, replaceDisksMode, storageType } from '../../src/opcodes/types'
import type { Operation } from './document'

interface Parameter {
  description: string
  enum?: Schema['enum']
}

const YES = '1 for yes, 0 for no'

/** Parameters by name. If a name has several meanings, the operation's path decides. */
const PARAMETERS: Readonly<Record<string, Parameter>> = {
  bulk: { description: `Everything about the objects instead of their names: ${YES}.` },
  lock: { description: 'Ganeti no longer has reads under locks, so any number except 0 is refused.' },
  tag: { description: 'A tag; may be given several times.' },
  'dry-run': { description: `Only check, and change nothing: ${YES}.` },
  force: { description: `Go on in spite of what would be refused otherwise: ${YES}.` },
  ignore_size: { description: `Activate disks although their sizes differ from those recorded: ${YES}.` },
  ignore_secondaries: { description: `Go on when disks on secondary nodes fail: ${YES}.` },
  no_remember: { description: `Do not record the new state as the one that the instance should be in: ${YES}.` },
  nostartup: { description: `Leave the instance stopped afterwards: ${YES}.` },
  static: { description: `Ask no node: ${YES}.` },
  'auto-promote': { description: `Make other nodes master candidates if there are too few: ${YES}.` },
  allocatable: { description: `Whether new disks may be put there: ${YES}.` },
  live: { description: `What \`mode\` says, for older clients: 1 for live, 0 for non-live.` },
  index: { description: 'Which disk, counted from 0.' },
  snapshot: { description: 'The name of the snapshot.' },
  disks: { description: 'Indices of the disks, separated by commas; the default is all.' },
  remote_node: { description: 'The new secondary node.' },
  iallocator: { description: 'The allocator that finds the new secondary node.' },
  os: { description: 'The operating system to install. The default is the present one.' },
  output_fields: { description: 'The facts to show of each unit: names of fields, separated by commas.' },
  fields: { description: 'Names of fields, separated by commas.' },
  uuid: { description: 'The uuid of the rule.' },
  id: { description: 'The number of the job.' },
  storage_type: { description: 'The kind of storage.', enum: storageType.schema.enum },
  resource: { description: 'The kind of objects.', enum: resource.schema.enum },
  type: { description: 'How to reboot.', enum: rebootType.schema.enum },
  '/2/instances/{name}/replace-disks mode': { description: 'Which side.', enum: replaceDisksMode.schema.enum },
  '/2/instances/{name}/prepare-export mode': { description: 'Where the export goes.', enum: exportMode.schema.enum },
  '/2/nodes/{name}/migrate mode': { description: 'How to migrate.', enum: migrationMode.schema.enum },
  '/2/nodes/{name}/storage/modify name': { description: 'The name of the storage unit.' },
  '/2/nodes/{name}/storage/repair name': { description: 'The name of the storage unit.' },
  '/3/nodes/{name}/storage name': { description: 'The name of the node.' },
  '/3/tokens/{id} id': { description: 'The id of the token.' },
}

export function describeParameters(path: string, { parameters = [] }: Operation): void {
  for (const parameter of parameters) {
    const { in: where, name, description, schema } = parameter
    if (description !== undefined) continue
    const known = where === 'path' && name === 'name' ? nameOf(path) : undefined
    const found = known ?? PARAMETERS[`${path} ${String(name)}`] ?? PARAMETERS[String(name)]
    if (found === undefined) throw new Error(`${path}: scripts/openapi/parameters.ts does not tell of ${String(name)}`)
    parameter['description'] = found.description
    if (found.enum !== undefined && typeof schema === 'object' && schema !== null)
      parameter['schema'] = { ...schema, enum: found.enum }
  }
}

/** `/2/instances/{name}/tags`: the name of an instance. */
function nameOf(path: string): Parameter {
  const kind = KINDS[path.split('/')[2] ?? ''] ?? 'object'
  return {
    description: `The name of the ${kind}${SHORT.has(kind) ? '; a short name is enough if only one object fits' : ''}.`,
  }
}

const KINDS: Readonly<Record<string, string>> = {
  instances: 'instance',
  nodes: 'node',
  groups: 'node group',
  networks: 'network',
  os: 'operating system',
  locks: 'lock',
  filters: 'rule, which is its uuid',
}

/** What stands in an address, for example: programs ask with it, and servers that are made from the document answer it. */
export function exampleParameters(path: string, { parameters = [] }: Operation): void {
  const [, , kind = ''] = path.split('/')
  for (const parameter of parameters.filter((one) => one['in'] === 'path')) {
    const name = String(parameter['name'])
    const example = EXAMPLES[`${kind} ${name}`] ?? EXAMPLES[name]
    if (example !== undefined) parameter['example'] = example
  }
}

const UUID = '2b0bd3c1-6d0f-4d0c-9b0e-0d2f6b8a7c11'

const EXAMPLES: Readonly<Record<string, string | number>> = {
  'instances name': 'vm1.example.com',
  'nodes name': 'node1.example.com',
  'groups name': 'default',
  'networks name': 'net1',
  'os name': 'debootstrap+default',
  'locks name': 'instance/vm1.example.com',
  'filters name': UUID,
  'filters uuid': UUID,
  'jobs id': 1234,
  'tokens id': '5f0c8c2e9a6b4d17',
  'maintenance id': UUID,
  'events id': UUID,
  'history name': 'vm1.example.com',
  category: 'default',
  collector: 'cpu-avg-load',
  script: 'create',
  index: 0,
  resource: 'instance',
  snapshot: 'before-upgrade',
  storage_type: 'lvm-vg',
  tag: 'web',
}

const SHORT: ReadonlySet<string> = new Set(['instance', 'node'])
