// Users, roles and tokens.
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { api, got } from '../../api/client'
import { useRefusal, useSignedIn } from '../../api/session'
import { ActionAt, Actions } from '../../parts/action'
import { FilterField } from '../../parts/filter-field'
import { Card, Nothing, Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { Rows } from '../../parts/rows'
import { Status } from '../../parts/status'
import { Time } from '../../parts/time'
import { texts } from '../../texts'
import { MAKE_TOKEN, REVOKE_TOKEN, type Token } from './actions'

const own = texts.access
const route = getRouteApi('/access')
const USERS = 'users.list'

export interface AccessSearch {
  readonly q?: string
}

export function AccessPage() {
  const refusal = useRefusal()(USERS)
  return (
    <Page title={own.title} actions={<Actions subject={null} actions={[MAKE_TOKEN]} shown={1} />}>
      <Tokens />
      <div className="cards">
        <Card title={own.users}>
          {refusal === undefined ? <Users /> : <Nothing text={texts.overview.notShown(refusal)} />}
        </Card>
        <Card title={own.roles}>
          <Rows label={own.roles} head={own.roleColumns} none="" rows={Object.entries(own.role)} />
          <Nothing text={own.rolesText} />
        </Card>
        <You />
      </div>
    </Page>
  )
}

function Tokens() {
  const refusal = useRefusal()('tokens.list')
  const { q } = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, refetch } = useQuery({
    queryKey: ['tokens', 'list', q],
    queryFn: () => got(api.GET('/3/tokens', { params: { query: { like: q } } })),
    // Keeps the previous rows while a new filter loads.
    placeholderData: (before) => before,
    enabled: refusal === undefined,
  })
  return (
    <Card
      title={own.tokens}
      aside={
        refusal === undefined && (
          <FilterField
            label={own.filterTokens}
            value={q}
            change={(next) => void navigate({ search: { q: next }, replace: true, resetScroll: false })}
          />
        )
      }
    >
      <Nothing text={refusal === undefined ? own.tokensText : texts.overview.notShown(refusal)} />
      <ProblemBox error={error} retry={() => void refetch()} />
      {data && (
        <Rows
          label={own.tokens}
          head={own.tokenColumns}
          none={q ? texts.table.noMatch : own.noTokens}
          keys={data.items.map(({ id }) => id)}
          rows={data.items.map((token) => [
            token.name,
            token.user,
            token.permissions.join(', '),
            scopeText(token),
            <Time key="created" time={token.created} />,
            <Ends key="ends" expires={token.expires} />,
            <ActionAt key="revoke" subject={token} action={REVOKE_TOKEN} />,
          ])}
        />
      )}
    </Card>
  )
}

function Ends({ expires }: { expires: string | null }) {
  if (expires === null) return own.never
  return Date.parse(expires) < Date.now() ? <Status tone="off" text={own.over} /> : <Time time={expires} />
}

function scopeText({ tags, groups }: Token): string {
  const parts = [
    ...(tags.length > 0 ? [own.tags(tags.join(', '))] : []),
    ...(groups.length > 0 ? [own.groups(groups.join(', '))] : []),
  ]
  return parts.join('; ') || own.all
}

function Users() {
  const { data, error, refetch } = useQuery({
    queryKey: ['users', 'list'],
    queryFn: () => got(api.GET('/3/users', {})),
  })
  return (
    <>
      <Nothing text={own.usersText} />
      <ProblemBox error={error} retry={() => void refetch()} />
      {data && (
        <Rows
          label={own.users}
          head={own.userColumns}
          none={own.noUsers}
          rows={data.items.map(({ name, options, permissions }) => [
            name,
            options.join(', ') || '–',
            permissionsText(permissions),
          ])}
        />
      )}
    </>
  )
}

/** "Everything" with its exceptions, or a list of permissions. */
function permissionsText(permissions: readonly string[]): string {
  if (!permissions.includes('*')) return permissions.join(', ')
  return [own.everything, ...permissions.filter((pattern) => pattern.startsWith('-'))].join(', ')
}

function You() {
  const { session } = useSignedIn()
  if (session === undefined) return null
  return (
    <Card title={own.you}>
      <div className="line">{own.youAre(session.user, session.token)}</div>
      <details className="more">
        <summary>{own.may(session.permissions.length)}</summary>
        <Text size="sm" mt={6}>
          {session.permissions.join(', ')}
        </Text>
      </details>
    </Card>
  )
}
