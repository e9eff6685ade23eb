// Whoever signs in with a token that has a scope is told beforehand of everything that the master would refuse for it, and of nothing else.
import document from '../../../openapi/rapi.json'
import type { ConfigData, Node } from '../../../src/model/config'
import { factsOf } from '../../../src/model/templates'
import { definitionOf } from '../../../src/opcodes/index'
import { objectsOf } from '../../../src/opcodes/objects'
import type { WireOpCode } from '../../../src/rpc/luxi/calls'
import { type GantryCallName, gantryCalls } from '../../../src/rpc/luxi/gantry-calls'
import { Access } from '../../../src/services/access/access'
import { rightsOf } from '../../../src/services/access/rights'
import { isObject } from '../../../src/lib/shapes/shape'
import { belowOthers, parameterField, parameterFields } from '../../../ui/src/forms/parameter-fields'
import { type Field, fieldOf, type Schema } from '../../../ui/src/forms/schema'
import { bodyOf, complaintOf, complaintsOf } from '../../../ui/src/forms/values'
import { forScope } from '../../../ui/src/forms/within-scope'
import {
  actionsOf,
  type Body,
  type ConsoleAction,
  consoleModule,
  fieldsFor,
  type FormField,
  formOf,
} from '../../support/console-actions'
import { goldenConfig } from '../../support/golden-query'
import { type Case, casesOf, instance, SUBJECTS } from './action-cases'
import { BothDoors } from './both-doors'

type Schemas = Readonly<Record<string, Schema>>
interface Session extends ReturnType<typeof rightsOf> {
  readonly user: string
  readonly token: string
}
interface Store {
  readonly sessionStore: { open(session: object): void }
}
interface Rights {
  refusalOf(session: Session, permission: string, beyond?: string): string | undefined
}
interface NotAllowed {
  notAllowed(session: Session, action: ConsoleAction, subject: unknown): string | undefined
}
interface Draft {
  typedInScope(scope: Session['scope']): Body
  outsideScope(scope: Session['scope'], body: Body): string | undefined
}

const { sessionStore } = consoleModule<Store>('api/session-store.ts')
const { refusalOf } = consoleModule<Rights>('api/rights.ts')
const { notAllowed } = consoleModule<NotAllowed>('parts/not-allowed.ts')
const { typedInScope, outsideScope } = consoleModule<Draft>('pages/instances/scope.ts')

const identity = { user: 'admin', token: 't', permissions: ['*'] }
const tokenFor = (scope: { tags?: string[]; groups?: string[]; permissions?: string[] }) =>
  new Access(identity, { permissions: ['*'], tags: [], groups: [], ...scope })
const sessionOf = (access: Access, known: ConfigData): Session => ({
  ...{ user: 'admin', token: 't', ...rightsOf(access, known) },
})

/** The first one is typed where tags are asked for. */
const TAGS = ['one', 'mine']
const config = allTagged(goldenConfig())
const access = tokenFor({ tags: ['one'] })
const session = sessionOf(access, config)

/** Where the token has instances, and none of their nodes. */
const onlyInstances = { ...goldenConfig(), instances: config.instances }
const sessionOfGuests = sessionOf(access, onlyInstances)

let doors: BothDoors

beforeAll(async () => {
  sessionStore.open(session)
  doors = await BothDoors.open()
})
afterAll(() => doors.close())

describe.each(Object.keys(SUBJECTS))('%s', (file) => {
  const actions = actionsOf(file).filter((action) => formOf(action) !== undefined)
  test.each(actions.map((action) => [action.id, action] as const))('%s', async (_, action) => {
    const said: unknown[] = []
    const done: unknown[] = []
    const cases = casesOf(file, action)
    for (const subject of new Set(cases.map((one) => one.subject))) {
      said.push([subject, isOpen(action, subject)])
      done.push([subject, await isOneAdmitted(cases.filter((one) => one.subject === subject))])
    }
    expect(said).toEqual(done)
  })

  test.each(actions.map((action) => [action.id, action] as const))('the fields of %s', async (_, action) => {
    for (const { what, fields, values, request } of casesOf(file, action).filter((one) =>
      isOpen(action, one.subject),
    )) {
      const isSettable = fields.every((field) => !Object.hasOwn(values, field.name) || takes(field, values[field.name]))
      expect([what, isSettable]).toEqual([what, (await doors.reached(request)).every((one) => isAdmitted(one))])
    }
  })
})

const OF_INSTANCES = Object.keys(SUBJECTS).filter((file) => file.startsWith('pages/instances/'))

describe.each(OF_INSTANCES)('%s, with a token that has instances and no nodes', (file) => {
  const actions = actionsOf(file).filter((action) => formOf(action) !== undefined)
  test.each(actions.map((action) => [action.id, action] as const))('%s', async (_, action) => {
    for (const { what, subject, fields, values, request } of casesOf(file, action)) {
      // A network that the token does not see is never offered.
      if (values['network'] !== undefined) continue
      const isSettable = fields.every(
        (field) => !Object.hasOwn(values, field.name) || takes(field, values[field.name], sessionOfGuests),
      )
      const isAllowed = isOpen(action, subject, sessionOfGuests) && isSettable
      const reached = await doors.reached(request)
      expect([what, isAllowed]).toEqual([what, reached.every((one) => isAdmitted(one, onlyInstances))])
    }
  })
})

test('a required name that no object in the scope has makes its action impossible, and says so', () => {
  const [exporting] = actionsOf('pages/instances/actions/change.ts').filter(({ id }) => id === 'export')
  if (exporting === undefined) throw new Error('no export')
  expect(notAllowed(sessionOfGuests, exporting, instance)).toContain('no node is in its scope')
  expect(notAllowed(session, exporting, instance)).toBe(undefined)
})

test('a node or group that also has instances outside of the scope says so, as far as these are concerned', () => {
  const [nodes, groups] = ['pages/nodes/actions.ts', 'pages/groups/actions.ts'].map(actionsOf)
  const node = (values: object) => Object.assign({}, SUBJECTS['pages/nodes/actions.ts']?.('evacuate')[0], values)
  const why = (id: string, values: object) =>
    (nodes ?? []).filter((action) => action.id === id).map((action) => notAllowed(session, action, node(values)))
  const others = [expect.stringContaining('instances that are outside the scope')]
  expect(why('migrate', { pinst_hidden: true })).toEqual(others)
  expect(why('migrate', { sinst_hidden: true })).toEqual([undefined])
  expect(why('evacuate', { pinst_hidden: true, sinst_hidden: true })).toEqual(others)
  expect(why('evacuate', { pinst_hidden: true, sinst_cnt: 0 })).toEqual(others)
  expect(why('evacuate', { pinst_hidden: true })).toEqual([undefined])
  const modes = (values: object) =>
    (nodes ?? [])
      .filter(({ id }) => id === 'evacuate')
      .flatMap((action) => fieldsFor(action.fields, node(values)))
      .flatMap(({ name, choices = [] }) =>
        name === 'mode' ? choices.map((one) => Reflect.get(Object(one), 'value')) : [],
      )
  expect(modes({})).toEqual(['all', 'primary-only', 'secondary-only'])
  expect(modes({ pinst_hidden: true })).toEqual(['secondary-only'])
  expect(modes({ sinst_hidden: true })).toEqual(['primary-only'])
  const [evacuate] = (groups ?? []).filter(({ id }) => id === 'evacuate')
  const group = { name: 'default', inst_hidden: true }
  expect(evacuate && notAllowed(session, evacuate, group)).toEqual(others[0])
  expect(evacuate && notAllowed(session, evacuate, { ...group, inst_hidden: false })).toBe(undefined)
})

test('who changes instances without naming them is told that the token has to cover all', async () => {
  const reported: string[] = []
  const hidden = new Set<string>()
  for (const file of Object.keys(SUBJECTS))
    for (const action of actionsOf(file)) {
      if (action.forOthers === true) reported.push(`${file} ${action.id}`)
      const reached = await Promise.all(
        casesOf(file, action)
          .slice(0, 1)
          .map(({ request }) => doors.reached(request)),
      )
      if (reached.flat().some(changesOthers)) hidden.add(`${file} ${action.id}`)
    }
  expect(reported.sort()).toEqual([...hidden].sort())
  expect(reported.length).toBeGreaterThan(2)
})

test('most can be done with it, and some things cannot', async () => {
  const all = Object.keys(SUBJECTS).flatMap(actionsOf)
  const refused = all.filter(({ permission }) => refusalOf(session, permission) !== undefined)
  expect(refused.length).toBeGreaterThan(15)
  expect(all.length - refused.length).toBeGreaterThan(40)
})

test.each([
  ['pages/instances/actions/disks.ts', 'add-disk', ['vg', 'metavg', ...(factsOf('drbd').perDisk ?? [])]],
  ['pages/instances/actions/disks.ts', 'convert', ['file_storage_dir', 'ext_params']],
  ['pages/instances/actions/nics.ts', 'change-nic', ['mode', 'link', 'vlan']],
  ['pages/nodes/actions.ts', 'drained-true', ['auto_promote']],
])('%s: the form of %s shows what concerns machines, and takes no value for it', (file, id, barred) => {
  const action = actionsOf(file).find((one) => one.id === id)
  const [subject] = SUBJECTS[file]?.(id) ?? []
  const fields = [action?.fields, action?.others].flatMap((some) => fieldsFor(some, subject)) as Field[]
  const own = fields.map((field) => forScope(field))
  expect(own.filter(({ barred: why }) => why !== undefined).map(({ name }) => name)).toEqual(barred)
  const typed = Object.fromEntries(barred.map((name) => [name, 'typed before']))
  expect(Object.keys(bodyOf(own, typed))).toEqual([])
  expect(Object.keys(bodyOf(fields, typed)).length).toBeGreaterThan(0)
})

test('what is admitted is offered, and what is there already stays', () => {
  const type = {
    type: 'string',
    enum: ['ide', 'scsi', 'scsi-block'],
    'x-within-scope': { enum: ['ide', 'scsi'] },
  } as const
  const now = forScope(parameterField('disk_type', type, { disk_type: 'scsi-block' }, 'ide'))
  expect(now).toMatchObject({ kind: 'choice', choices: ['ide', 'scsi', 'scsi-block'] })
  expect(forScope(parameterField('disk_type', type, {}, 'ide'))).toMatchObject({ choices: ['ide', 'scsi'] })
  expect([complaintOf(now, 'scsi-block'), bodyOf([now], {})]).toEqual([undefined, {}])
  expect(bodyOf([now], { disk_type: 'ide' })).toEqual({ disk_type: 'ide' })
})

test('a parameter that the document does not know is limited as the others of its dictionary', () => {
  const { NodeParameters: nodes, BackendParameters: backend } = document.components.schemas as unknown as Schemas
  const barredIn = (schema: Schema = {}) =>
    parameterFields(belowOthers(['some'], schema, { ours: 1 }, {}))
      .map((field) => forScope(field))
      .flatMap(({ label, barred }) => (barred === undefined ? [] : [label]))
  expect(barredIn(nodes)).toEqual([...Object.keys(nodes?.properties ?? {}), 'ours'])
  expect(barredIn(backend)).toEqual(['ours'])
})

test('names and values that are typed are told as what the token may not set', () => {
  const properties = { osparams: { type: 'object', 'x-within-scope': { properties: { image: false } } } } as const
  const field = fieldOf({ properties, required: [] }, 'osparams')
  const typed = { osparams: { dhcp: 'yes', image: '/dev/sda' } }
  expect(bodyOf([field], typed)).toEqual(typed)
  expect(bodyOf([forScope(field)], typed)).toEqual({})
  expect(complaintsOf([forScope(field)], typed)).toEqual({
    osparams: 'Osparams: your token may not set image, which concerns the nodes',
  })
  expect(complaintsOf([forScope(field)], { osparams: { dhcp: 'yes' } })).toEqual({})
})

test('a missing permission is told as one, also where the scope would not reach either', () => {
  const narrow = sessionOf(tokenFor({ tags: ['mine'], permissions: ['instances.*'] }), config)
  expect(refusalOf(narrow, 'instances.reboot')).toBe(undefined)
  expect(refusalOf(narrow, 'cluster.modify')).toBe('You need the permission cluster.modify')
  expect(refusalOf(session, 'cluster.modify')).toContain('concerns the whole cluster')
  expect(refusalOf(session, 'cluster.verify', 'cluster')).toContain('concerns the whole cluster')
})

describe('a new instance', () => {
  const create = (body: Body) => ({ OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'new', mode: 'create', ...body })
  const placed = { pnode: 'node2.gnt.example' }
  test.each<[object, Body, boolean]>([
    [{ tags: ['mine', 'other'] }, { tags: ['x', 'other'] }, true],
    [{ tags: ['mine'] }, { tags: ['x'] }, false],
    [{ tags: ['mine'] }, {}, false],
    [{ groups: ['default'] }, {}, false],
    [{ groups: ['default'] }, { group_name: 'default' }, true],
    [{ groups: ['default'] }, { group_name: 'rack2' }, false],
    [{ groups: ['default'] }, placed, true],
    [{ tags: ['mine'], groups: ['default'] }, placed, false],
    [{ tags: ['mine'], groups: ['default'] }, { ...placed, tags: ['mine'] }, true],
  ])('in the scope %j: %j', (scope, body, isInside) => {
    const token = tokenFor(scope)
    expect(outsideScope(rightsOf(token, config).scope, body) === undefined).toBe(isInside)
    expect(admits(token, create(body))).toBe(isInside)
  })

  test('begins with what the scope wants', () => {
    for (const scope of [{ tags: ['mine'] }, { groups: ['default'] }, { tags: ['a', 'mine'], groups: ['default'] }]) {
      const token = tokenFor(scope)
      const body = typedInScope(rightsOf(token, config).scope)
      expect(outsideScope(rightsOf(token, config).scope, body)).toBe(undefined)
      expect(admits(token, create(body))).toBe(true)
    }
    expect([typedInScope(null), outsideScope(null, {})]).toEqual([{}, undefined])
  })
})

/** Whether people with the token can begin it. */
function isOpen(action: ConsoleAction, subject: unknown, whose = session): boolean {
  const isFit = action.permission !== 'tokens.create' || action.unfit?.(subject) === undefined
  return isFit && notAllowed(whose, action, subject) === undefined
}

/** Whether people with the token can say so in the form. */
function takes(field: FormField, value: unknown, { empty_kinds: empty } = session): boolean {
  const own = forScope(field as Field, empty)
  return own.barred === undefined && complaintOf(own, value) === undefined
}

/** An action stays possible while any of its fields may be filled in. */
async function isOneAdmitted(cases: readonly Case[]): Promise<boolean> {
  for (const { request } of cases) if ((await doors.reached(request)).every((one) => isAdmitted(one))) return true
  return false
}

/** It submits jobs for instances, and names none. */
const changesOthers = (noted: unknown): boolean => {
  if (!isObject(noted) || Array.isArray(noted)) return false
  const op = noted as WireOpCode
  return definitionOf(op.OP_ID).forOthers && !objectsOf(op).some((object) => object.startsWith('instance/'))
}

/** An opcode, or a call with its arguments. */
function isAdmitted(noted: unknown, known = config): boolean {
  if (Array.isArray(noted)) {
    const name = String(noted[0]) as GantryCallName
    // Nobody makes tokens with a token.
    return name !== 'addToken' && !gantryCalls[name].forEverybody
  }
  if (!isObject(noted) || typeof noted['OP_ID'] !== 'string') throw new Error(JSON.stringify(noted))
  return admits(access, { ...noted, OP_ID: noted['OP_ID'] }, known)
}

function admits(token: Access, op: { readonly OP_ID: string }, known = config): boolean {
  try {
    token.check(known, op)
    return true
  } catch (error) {
    if (error instanceof Error && /outside the scope|matter of machines/.test(error.message)) return false
    throw error
  }
}

function allTagged(recorded: ConfigData): ConfigData {
  const tagged = <T extends object>(all: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(all).map(([uuid, one]) => [uuid, { ...one, tags: TAGS }]))
  const { instances, nodegroups, networks } = recorded
  // A node that is added again is there.
  const [node] = Object.values(recorded.nodes)
  const again = { ...node, uuid: 'again', name: 'node9.gnt.example' } as Node
  const nodes = { ...recorded.nodes, again }
  return {
    ...recorded,
    ...{ instances: tagged(instances), nodes: tagged(nodes) },
    ...{ nodegroups: tagged(nodegroups), networks: tagged(networks) },
  }
}
