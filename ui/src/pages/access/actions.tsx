// Actions on tokens.
import { Button, CopyButton, Group, Text, TextInput } from '@mantine/core'
import type { components } from '../../api/schema'
import { sessionStore } from '../../api/session-store'
import type { Values } from '../../forms/schema'
import type { Action } from '../../parts/action'
import { gntText } from '../../parts/gnt'
import { plainAction } from '../../parts/plain-dialog'
import { texts } from '../../texts'

export type Token = components['schemas']['Token']

const own = texts.access
const CHANGES = ['tokens']
const DAY_MS = 86_400_000

const NEVER = 'never'
const DAYS = [1, 7, 30, 90, 365]
  .map((days) => ({ value: String(days), label: own.afterDays(days) }))
  .concat([{ value: NEVER, label: own.never }])

const READS = '@readonly'
const NO_ROLE = 'none'
const ROLES = Object.entries(own.tokenRoles).map(([value, label]) => ({ value, label }))

/** The role is a permission like the others. */
const permissionsIn = ({ role = READS, permissions }: Values): unknown[] => [
  ...(role === NO_ROLE ? [] : [role]),
  ...(Array.isArray(permissions) ? (permissions as unknown[]) : []),
]

const endsAfter = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().replace(/\.\d+Z$/, 'Z')

export const MAKE_TOKEN: Action<null> = plainAction<null>({
  ...{ id: 'make', label: own.make, permission: 'tokens.create', changes: CHANGES },
  unfit: () => (typeof sessionStore.get().session?.token === 'string' ? own.notByToken : undefined),
  text: () => own.makeText,
  fields: [
    { kind: 'text', name: 'name', label: own.name, text: own.nameText, initial: '', required: true },
    { ...{ kind: 'choice', name: 'role', label: own.tokenRole, initial: READS }, choices: ROLES },
    {
      ...{ kind: 'words', name: 'permissions', label: own.permissions, text: own.permissionsText, initial: [] },
      known: () => sessionStore.get().session?.permissions ?? [],
    },
    { kind: 'choice', name: 'days', label: own.days, initial: '30', choices: DAYS },
    { kind: 'words', name: 'tags', label: own.onlyTags, initial: [] },
    { kind: 'words', name: 'groups', label: own.onlyGroups, initial: [], source: 'groups' },
  ],
  complaint: (body) => (permissionsIn(body).length > 0 ? undefined : own.missing),
  request(_none, { days = '30', role, ...rest }) {
    const entered = { ...rest, permissions: permissionsIn({ role, ...rest }) }
    const { name = 'NAME', ...scope } = entered as Values
    const ends = days === NEVER ? {} : { expires: endsAfter(Number(days)) }
    const user = sessionStore.get().session?.user ?? 'USER'
    const flags = { user, ...scope, ...(days !== NEVER && { 'valid-for': `${String(days)}d` }) }
    return {
      ...{ method: 'POST', path: '/3/tokens', body: { ...entered, ...ends } },
      gnt: gntText('token create', flags, [String(name)]),
    }
  },
  answer: (answer) => <Secret secret={(answer as components['schemas']['TokenCreated']).secret} />,
})

function Secret({ secret }: { secret: string }) {
  return (
    <>
      <Text size="sm">{own.made}</Text>
      <Group gap="sm" align="flex-end">
        <TextInput flex={1} label={own.secret} value={secret} readOnly classNames={{ input: 'mono' }} />
        <CopyButton value={secret}>
          {({ copied, copy }) => (
            <Button variant="default" onClick={copy}>
              {copied ? texts.action.copied : own.copy}
            </Button>
          )}
        </CopyButton>
      </Group>
    </>
  )
}

export const REVOKE_TOKEN: Action<Token> = plainAction<Token>({
  ...{ id: 'revoke', label: own.revoke, permission: 'tokens.revoke', changes: CHANGES, danger: true },
  text: ({ name }) => own.revokeText(name),
  fields: [],
  request: ({ id }) => ({
    ...{ method: 'DELETE', path: `/3/tokens/${encodeURIComponent(id)}`, body: {} },
    gnt: gntText('token revoke', {}, [id]),
  }),
})
