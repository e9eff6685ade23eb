// Checks that the entries of the table of roles fit together, and that requests to a role are checked against it.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { PATH } from '../../../src/model/constants/paths'
import { claimOfFile } from '../../../src/model/owners'
import { completions } from '../../../src/roles/completion'
import { helperHelp, roleHelp, usage } from '../../../src/roles/help'
import { NODE_SERVERS } from '../../../src/roles/helpers'
import { readOptions } from '../../../src/roles/options'
import { inOrder, type Role } from '../../../src/roles/role'
import { ROLES, roleNamed } from '../../../src/roles/table'
import ganetis from '../../data/daemons.json'
import { projectFiles, root } from '../../support/source-tree'

const roles: readonly Role[] = ROLES
const role = (name: string, after: readonly string[] = []): Role => ({
  ...{
    name,
    program: `ganeti-${name}`,
    text: name,
    place: 'node',
    user: 'root',
    group: 'root',
    log: name,
    options: [],
    after,
  },
})
const rapi = roleNamed('rapi') ?? role('none')

const textOf = (name: string): string => fs.readFileSync(path.join(root, name), 'utf8')

test('roles start behind those that they wait for', () => {
  expect(inOrder([role('c', ['b']), role('a'), role('b', ['a'])]).map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  expect(inOrder([role('a', ['elsewhere'])]).map(({ name }) => name)).toEqual(['a'])
  expect(() => inOrder([role('a', ['b']), role('b', ['a'])])).toThrow('roles wait for each other: a, b, a')
})

test('names, ports, accounts and logs are those of Ganeti, where it has the daemon', () => {
  const shared = roles.filter(({ program }) => Object.hasOwn(ganetis, program))
  expect(shared.map(({ name }) => name)).toEqual(['noded', 'kvmd', 'metad', 'mond', 'confd', 'wconfd', 'luxid', 'rapi'])
  const ours = shared.map(({ program, port, user, log }) => [
    program,
    { user, log: `/var/log/ganeti/${log}.log`, ...(port && { port }) },
  ])
  expect(ganetis).toMatchObject(Object.fromEntries(ours))
})

test('the log of each daemon of a node belongs to its account', () => {
  for (const { log, user, group } of roles.filter(({ nodes, place }) => nodes !== 'simulated' && place !== 'system'))
    expect(claimOfFile(`${PATH.LOG_DIR}/${log}.log`)).toEqual({ owner: user, group, mode: 0o600 })
})

test('each socket of a daemon has one role that makes it', () => {
  const used = projectFiles()
    .filter((name) => /^src\/.*\.ts$/.test(name))
    .flatMap((name) => [...textOf(name).matchAll(/\.socket\('(\w+)'\)/g)].map(([, socket]) => socket))
  expect([...new Set(used)].sort()).toEqual(roles.flatMap(({ sockets = [] }) => sockets).sort())
})

/** How people call the places. */
const PLACES: Readonly<Record<Role['place'], string>> = {
  ...{ system: 'every node', node: 'every node', candidate: 'master candidates', master: 'master' },
  demand: 'a node whose instances ask',
}
const placeText = ({ place, nodes, lines }: Role): string =>
  nodes === 'simulated'
    ? 'beside the master of a recorded cluster'
    : `${PLACES[place]}${lines === undefined ? '' : ', where'}`

/** The table of a document whose head begins with this word: names of the first column, and what the second says. */
function tableOf(document: string, head: string): [name: string, where: string][] {
  const lines = textOf(document).split('\n')
  const first = lines.findIndex((line) => line.startsWith(`| ${head} `))
  const rows = lines.slice(first + 2)
  return rows
    .slice(
      0,
      rows.findIndex((line) => !line.startsWith('|')),
    )
    .flatMap((row) => {
      const [, names = '', where = ''] = row.split('|').map((cell) => cell.trim())
      return [...names.matchAll(/`([\w.-]+)`/g)].map(([, name = '']): [string, string] => [name, where])
    })
}

test.each([
  ['ARCHITECTURE.md', 'role', roles, ({ name }: Role) => name],
  [
    ...(['docs/install.md', 'unit'] as const),
    roles.filter(({ nodes, place }) => nodes !== 'simulated' && place !== 'system'),
    ({ program }: Role) => program,
  ],
] as const)('%s tells of every %s where it runs', (document, head, expected, nameOf) => {
  const reported = tableOf(document, head).filter(
    ([name]) => head === 'role' || roles.some(({ program }) => program === name),
  )
  expect(reported.map(([name]) => name).sort()).toEqual(expected.map(nameOf).sort())
  for (const role of expected)
    expect(reported.find(([name]) => name === nameOf(role))?.[1].replace(/^the /, '')).toMatch(
      new RegExp(`^${placeText(role)}`),
    )
})

test('an option that a role has not is refused by name, and so is a wrong value', () => {
  expect(readOptions(rapi, ['-b', '127.0.0.1', '--bind=::1', '-p', '0'])).toMatchObject({
    ...{ bind: ['127.0.0.1', '::1'], port: 0, accessLog: 'changes' },
  })
  expect(() => readOptions(rapi, ['--config', 'x'])).toThrow('rapi has no option --config; "gantryd rapi --help" lists')
  expect(() => readOptions(rapi, ['--port', '99999'])).toThrow("--port needs a number from 0 to 65535, not '99999'")
  expect(() => readOptions(rapi, ['--access-log=some'])).toThrow("one of none, changes, all, not 'some'")
  expect(readOptions(rapi, ['--max-clients=7', '-K', '/k.pem', '-C', '/c.pem', '--no-ssl'])).toMatchObject({
    ...{ maxClients: 7, 'ssl-key': '/k.pem', 'ssl-cert': '/c.pem', 'no-ssl': true },
  })
  expect(() => readOptions(rapi, ['--max-clients', '0'])).toThrow("--max-clients needs a number from 1 on, not '0'")
  expect(() => readOptions(rapi, ['more'])).toThrow(/more/)
})

test('a role listens on its own port, unless it is told another one', () => {
  for (const one of roles) {
    expect(readOptions(one, []).port).toBe(one.port?.number ?? 0)
    if (one.options.includes('port')) expect(readOptions(one, ['--port=7']).port).toBe(7)
    expect(one.options.includes('port')).toBe(one.port !== undefined)
  }
  expect(readOptions({ name: 'tickd', options: [], port: { number: 1899 } }, []).port).toBe(1899)
})

test('noded takes what the noded of Ganeti does, and says what is otherwise', () => {
  const noded = roleNamed('noded') ?? role('none')
  const args = ['--max-clients', '20', '-K', '/var/lib/ganeti/server.pem', '--ssl-cert=/var/lib/ganeti/server.pem']
  expect(readOptions(noded, args)).toMatchObject({ maxClients: 20 })
  expect(roleHelp(noded)).toMatch(/--ssl-key FILE +for scripts that know Ganeti: all nodes have the cluster's/)
  expect(roleHelp(rapi)).toMatch(/--ssl-key FILE +the key, as PEM/)
})

test('the help texts name every role with its options and exit codes', () => {
  for (const one of roles) {
    expect(usage()).toContain(`  ${one.name} `)
    for (const option of one.options) expect(roleHelp(one)).toContain(`--${option}`)
    for (const text of Object.values(one.exits ?? {})) expect(roleHelp(one)).toContain(text)
  }
})

test('what noded starts beside the roles has its help, and its line in the list of roles', () => {
  for (const name of Object.keys(NODE_SERVERS)) {
    expect(usage()).toMatch(new RegExp(`^  ${name} +serves`, 'm'))
    expect(helperHelp(name)).toMatch(new RegExp(`^usage: gantryd ${name} ROOT HOSTNAME\n`))
    expect(textOf('ARCHITECTURE.md')).toMatch(new RegExp(`^\\| ${name} +\\|`, 'm'))
  }
})

test('a shell is told what gantryd plays, and the options of each role', () => {
  expect(completions(['w'])).toEqual(['wconfd'])
  expect(completions(['daemon'])).toEqual(['daemon-util'])
  expect(completions(['noded', '--ma'])).toEqual(['--max-clients='])
  expect(completions(['noded', '--fore'])).toEqual(['--foreground'])
  expect(completions(['nobody', ''])).toEqual([])
})
