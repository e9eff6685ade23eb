// "Copy as gnt" and "Copy as curl" of every action say what the console itself sends: curl's words and the command line go through the product's
// own doors, and the same reaches the master.
import { readFileSync } from 'node:fs'
import * as path from 'node:path'
import {
  balanceQuestion,
  capacityQuestion,
  monitoringQuestion,
  whatIfQuestion,
} from '../../../ui/src/parts/question-request'
import { bodyOfDraft, type DraftParts, gntOfDraft, type Source } from '../../../ui/src/pages/instances/draft'
import {
  actionsOf,
  type Body,
  consoleFiles,
  consoleModule,
  type ConsoleRequest,
  fieldsFor,
  formOf,
  UI,
} from '../../support/console-actions'
import { casesOf, instance, SUBJECTS } from './action-cases'
import { BothDoors, curlText } from './both-doors'

let doors: BothDoors

beforeAll(async () => {
  // A new token belongs to who is signed in.
  consoleModule<Store>('api/session-store.ts').sessionStore.open({ user: 'admin' })
  doors = await BothDoors.open()
})
afterAll(() => doors.close())

interface Store {
  readonly sessionStore: { open(session: object): void; forget(): void }
}

/** Their commands are looked at below, or make their own plan, or are only handed on. */
const ELSEWHERE = [
  ...['pages/instances/actions/request.ts', 'pages/instances/use-draft.ts', 'pages/nodes/power-actions.ts'],
  'parts/question-request.ts',
  ...['pages/topology/balance-panel.tsx', 'parts/request.ts', 'pages/instances/bulk.tsx', 'pages/instances/draft.ts'],
]

describe.each(Object.keys(SUBJECTS))('%s', (file) => {
  const actions = actionsOf(file).flatMap((action) => {
    return formOf(action) === undefined ? [] : [{ id: action.id, action }]
  })
  test.each(actions)('$id', async ({ action }) => {
    const found: string[] = []
    const cases = casesOf(file, action)
    const form = formOf(action)
    const typed = new Set(
      cases.flatMap(({ values }) => Object.keys(values).filter((name) => values[name] !== undefined)),
    )
    for (const subject of SUBJECTS[file]?.(action.id) ?? [])
      for (const { name } of [...fieldsFor(form?.fields, subject), ...fieldsFor(form?.others, subject)])
        if (!typed.has(name)) found.push(`${name} is in no request`)
    for (const one of cases) {
      const differs = await doors.difference(one.request)
      if (differs !== undefined) found.push(`${one.what}: ${differs}`)
    }
    expect(found.join('\n')).toBe('')
  })
})

const { modify } = consoleModule<{ modify(object: object, body: Body): ConsoleRequest }>(
  'pages/instances/actions/request.ts',
)

test.each([
  [{ beparams: { maxmem: 2048, minmem: 1024, vcpus: 'default', auto_balance: false }, runtime_mem: 1024 }],
  [{ hvparams: { kernel_args: 'ro, "quiet"', acpi: true, boot_order: 'default' }, force: true }],
  [{ osparams: { size: "it's, big" }, osparams_private: { key: 'a=b' } }],
])('parameters of an instance: %j', async (body) => {
  expect(await doors.difference(modify(instance, body))).toBe(undefined)
})

test.each<[string, Partial<DraftParts>, Source]>([
  ['with little said', {}, { kind: 'new' }],
  [
    'with parameters of the hypervisor',
    { plain: { hypervisor: 'fake' }, hvparams: { migration_mode: 'live' } },
    { kind: 'new' },
  ],
  [
    'with devices',
    {
      disks: [
        { size: 1024, name: 'a, b' },
        { size: 64, mode: 'ro' },
      ],
      nics: [{ ip: '198.51.100.7', network: 'net1' }, {}],
    },
    { kind: 'new' },
  ],
  ['without devices', { plain: { disk_template: 'diskless' }, nics: [] }, { kind: 'new' }],
  [
    'with everything else',
    {
      plain: {
        pnode: 'node2.gnt.example',
        snode: 'node3.gnt.example',
        start: false,
        name_check: true,
        ip_check: true,
        tags: ['a', 'b'],
        no_install: true,
        wait_for_sync: false,
      },
      beparams: { maxmem: 512, minmem: 256 },
      osparams: { size: 'big, red' },
    },
    { kind: 'new' },
  ],
  ['from an export', { nics: [] }, { kind: 'export', node: 'node2.gnt.example', name: "it's old" }],
  [
    'from an export, stopped',
    { nics: [], plain: { start: false } },
    { kind: 'export', node: 'node2.gnt.example', name: 'old' },
  ],
])('a new instance %s', async (_, parts, source) => {
  const none = { beparams: {}, hvparams: {}, osparams: {}, disks: [{ size: 1024 }], nics: [{}] }
  const os = source.kind === 'new' ? { os_type: 'noop' } : {}
  const plainParts = { instance_name: 'inst9.gnt.example', ...os, disk_template: 'plain', ...parts.plain }
  const body = bodyOfDraft({ ...none, ...parts, plain: plainParts }, source)
  const request = { method: 'POST', path: '/3/instances', body, gnt: gntOfDraft(body, source) }
  expect(await doors.difference(request)).toBe(undefined)
})

const spec = { disk_template: 'drbd', memory_mib: 1536, vcpus: 2, disks_mib: [10_240, 512], disks_spindles: [2, 1] }
const diskless = { disk_template: 'diskless', memory_mib: 128, vcpus: 1 }
const nodes = ['node1.gnt.example', 'node2.gnt.example']
const { placementAsked } = consoleModule<{ placementAsked(desired: object): Parameters<typeof capacityQuestion>[0] }>(
  'pages/instances/placement-view.tsx',
)

test.each([
  ['a balance', balanceQuestion({ max_moves: 5, disk_moves: true, instance_moves: true })],
  ['a balance without some moves', balanceQuestion({ max_moves: 5, disk_moves: false, instance_moves: false })],
  ['room', capacityQuestion({ spec, groups: ['default'], max_instances: 1000, explain: true })],
  [
    'the nodes for a new instance',
    capacityQuestion(placementAsked({ ...spec, tags: ['a', 'b'], networks: ['lan'], group: 'default' })),
  ],
  [
    'the nodes for one without disks',
    capacityQuestion(placementAsked({ ...diskless, disks_mib: [], disks_spindles: [], tags: [], networks: [] })),
  ],
  ['room without disks', capacityQuestion({ spec: diskless, groups: ['default'] })],
  ['dying nodes', whatIfQuestion({ nodes })],
  [
    'dying and arriving',
    whatIfQuestion({ nodes, node_tag: 'rack:1', instances: [{ spec, count: 3, group: 'default' }] }),
  ],
  ['arriving ones', whatIfQuestion({ instances: [{ spec: diskless, count: 1 }] })],
  ['the present reserve', whatIfQuestion({ nodes: [] })],
  ['the reports of all nodes', monitoringQuestion()],
  ['the report of a node', monitoringQuestion('node1.gnt.example')],
])('the question of %s', async (_, request) => {
  expect(await doors.difference(request)).toBe(undefined)
})

test('who has signed in with a token gives curl a token', () => {
  const { sessionStore } = consoleModule<Store>('api/session-store.ts')
  const request = { method: 'DELETE', path: '/3/filters/x', body: {}, gnt: '' }
  const displayed = () => curlText(request, 'https://cluster.example:5080')
  try {
    sessionStore.forget()
    sessionStore.open({ user: 'admin', token: null })
    expect(displayed()).toBe(`curl -k -u "$USER_NAME" -X DELETE 'https://cluster.example:5080/3/filters/x'`)
    sessionStore.forget()
    sessionStore.open({ user: 'admin', token: 'backup' })
    expect(displayed()).toBe(
      `curl -k -H "Authorization: Bearer $TOKEN" -X DELETE 'https://cluster.example:5080/3/filters/x'`,
    )
  } finally {
    sessionStore.forget()
    sessionStore.open({ user: 'admin' })
  }
})

test('no file of the console that says a command is left out', () => {
  const says = consoleFiles().filter((file) => /\bgnt: /.test(readFileSync(path.join(UI, file), 'utf8')))
  const known = [...Object.keys(SUBJECTS), ...ELSEWHERE]
  expect(says.filter((file) => !known.includes(file))).toEqual([])
})

/** What these send has no copies beside it in the same file, for a reason. */
const WITHOUT_COPIES: Readonly<Record<string, string>> = {
  'app/account.tsx': 'a session belongs to this browser',
  'api/session.ts': 'a session belongs to this browser',
  'pages/sign-in/sign-in.tsx': 'a session belongs to this browser',
  'pages/console/connection.ts': 'a ticket is for this page alone, and good for some seconds',
  'pages/instances/list-page.tsx': 'asks for the names of all that are shown',
  'pages/instances/bulk-begin.tsx': 'sends what the dialog of bulk.tsx has copies of',
  'pages/topology/topology-page.tsx': 'asks what balance-panel.tsx has copies of',
  'pages/topology/use-what-if.ts': 'asks what what-if-panel.tsx has copies of',
  ...Object.fromEntries(
    ['parts/question.ts', 'parts/submit.ts', 'parts/use-plan.ts'].map((file) => [file, 'sends what others give it']),
  ),
}
const VERB = "'(POST|PUT|PATCH|DELETE)'"
const SENDS = new RegExp(
  [
    ...[String.raw`\b(useMutation|useSubmit|usePlan|questionQuery)\(`, String.raw`\bapi\.(POST|PUT|PATCH|DELETE)\(`],
    ...[String.raw`\b(request|send)\((method|${VERB})`, String.raw`\bnew Request\([^)]*method: ${VERB}`],
  ].join('|'),
)
const OFFERS = /<(CopyAs|AskAgain)\b/

test('whatever the console sends can be copied where it is sent', () => {
  const texts = consoleFiles().map((file) => [file, readFileSync(path.join(UI, file), 'utf8')] as const)
  const silent = texts.filter(([, text]) => SENDS.test(text) && !OFFERS.test(text)).map(([file]) => file)
  expect(silent.sort()).toEqual(Object.keys(WITHOUT_COPIES).sort())
})
