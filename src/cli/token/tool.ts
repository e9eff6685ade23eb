// gnt-token: bearer tokens for the remote API. Ganeti has no such command.
import { seconds } from '../../lib/clock'
import { badPermission, PERMISSION_FORMS, permissionNames } from '../../opcodes/permission'
import { tokenShape } from '../../query/object-shapes'
import { administrator, gantryOf } from '../administrator'
import { parseTimespec } from '../cluster/control'
import { type Call, many, one, type Tool } from '../command'
import { CommandFailure, EXIT } from '../outcome'
import { value } from '../input/option'
import { oNoHeaders, oSeparator } from '../input/options'
import { firstArgument } from '../submit/submit'
import { formatTable } from '../output/table'

const oUser = value('--user', 'user', 'string', 'user of the remote API to whom the token belongs')
const oPermissions = value(
  '--permissions',
  'permissions',
  'list',
  'what the token allows, of what its user may do: "@readonly", "instances.*,*.query", "-instances.remove"; "gnt token permissions" lists all',
)
const oTags = value('--tags', 'tags', 'list', 'only objects with one of these tags')
const oGroups = value('--groups', 'groups', 'list', 'only objects of these node groups')
const oValidFor = value(
  '--valid-for',
  'valid_for',
  'string',
  'how long it is valid: 12h, 30d; without it, until it is revoked',
)

/** Bearer tokens of the remote API. A user who may run commands on the master manages all tokens. */
export const tokenTool: Tool = {
  name: 'gnt-token',
  commands: [
    {
      name: 'create',
      help: 'create a token; its secret is printed once and kept nowhere',
      usage: '--user <user> --permissions <permission>[,...] <name>',
      args: [one('name')],
      options: [oUser, oPermissions, oTags, oGroups, oValidFor],
      run: createToken,
    },
    {
      name: 'list',
      help: 'list the tokens of all users',
      usage: '',
      args: [],
      options: [oNoHeaders, oSeparator],
      run: listTokens,
      data: tokenData,
    },
    {
      name: 'permissions',
      help: 'list the permissions that a token can have',
      usage: '',
      args: [],
      options: [],
      run: listPermissions,
      data: () => Promise.resolve(permissionNames),
    },
    {
      name: 'revoke',
      help: 'revoke tokens: they are refused from now on',
      usage: '<id>...',
      args: [many('token id', 1)],
      options: [],
      run: revokeTokens,
    },
  ],
}

async function createToken(call: Call): Promise<number> {
  const { options, clock, terminal } = call
  const user = options.text('user')
  const permissions = options.list('permissions') ?? []
  if (user === undefined) throw new CommandFailure('--user: say to whom the token belongs')
  if (permissions.length === 0) throw new CommandFailure('--permissions: say what the token allows, like "*.query"')
  const wrong = badPermission(permissions)
  if (wrong !== undefined) throw new CommandFailure(`--permissions: ${wrong}`)
  const validFor = options.text('valid_for')
  const { token, secret } = await gantryOf(call).addToken(administrator(user), {
    ...{ name: firstArgument(call), permissions },
    ...{ tags: options.list('tags') ?? [], groups: options.list('groups') ?? [] },
    expires: validFor === undefined ? null : Math.floor(seconds(clock)) + parseTimespec(validFor),
  })
  terminal.err(`Token ${token.id} of ${user}; keep the secret, it is not shown again:`)
  terminal.out(secret)
  return EXIT.ok
}

async function tokenData(call: Call): Promise<unknown> {
  const tokens = await gantryOf(call).tokens(administrator('root'))
  return tokens.map(tokenShape)
}

async function listTokens(call: Call): Promise<number> {
  const { options, terminal } = call
  const tokens = await gantryOf(call).tokens(administrator('root'))
  const rows = tokens.map(({ id, user, name, permissions, tags, groups, created, expires }) => [
    ...[id, user, name, permissions.join(','), tags.join(',') || '-', groups.join(',') || '-'],
    ...[moment(created), expires === null ? '-' : moment(expires)],
  ])
  const columns = TITLES.map((title) => ({ title, alignRight: false }))
  const table = { headers: !options.flag('no_headers'), separator: options.text('separator') }
  for (const line of formatTable(columns, rows, table)) terminal.out(line)
  return EXIT.ok
}

const TITLES = ['ID', 'User', 'Name', 'Permissions', 'Tags', 'Groups', 'Created (UTC)', 'Expires (UTC)']

async function listPermissions({ terminal }: Call): Promise<number> {
  for (const name of permissionNames) terminal.out(name)
  terminal.err(`In --permissions, ${PERMISSION_FORMS}.`)
  return EXIT.ok
}

async function revokeTokens(call: Call): Promise<number> {
  for (const id of call.args) {
    await gantryOf(call).removeToken(administrator('root'), id)
    call.terminal.out(`Token ${id} is revoked`)
  }
  return EXIT.ok
}

const moment = (at_s: number): string => new Date(at_s * 1000).toISOString().slice(0, 16).replace('T', ' ')
