// Requests of /3 about bearer tokens.
import {
  Body,
  Delete,
  Get,
  Path,
  Post,
  Query,
  Route,
  Security,
  SuccessResponse,
  Tags,
} from '../../../../http/decorators'
import { seconds } from '../../../../lib/clock'
import { TOKENS_MAX } from '../../../../model/limits/logins'
import { tokenShape } from '../../../../query/object-shapes'
import { tokenBody } from '../../v3/bodies'
import { inFuture } from '../../v3/body'
import { V3Resource, readLimit } from './resource'

/** A bearer token, without its secret. */
interface Token {
  id: string
  name: string
  /** The owner. The token can never do more than this user. */
  user: string
  /** Patterns of permissions: `instances.*`, `*.query`. */
  permissions: string[]
  /** Only objects with one of these tags. Empty for all. */
  tags: string[]
  /** Only objects of these node groups. Empty for all. */
  groups: string[]
  /** @format date-time */
  created: string
  /** Null for never. @format date-time */
  expires: string | null
}

/** A token to create. */
export interface TokenRequest {
  /** The name that people give it. */
  name: string
  /** The permissions of the token: names of its user's permissions, and patterns of them. */
  permissions: string[]
  /** Only objects with one of these tags. The default is all. */
  tags?: string[]
  /** Only objects of these node groups. The default is all. */
  groups?: string[]
  /** The default is never. @format date-time */
  expires?: string | null
}

/** A new token. The secret is shown now and never again. */
export interface TokenCreated {
  token: Token
  secret: string
}

/** All tokens that the caller may see. */
export interface TokenList {
  items: Token[]
}

@Route('3/tokens')
@Tags('tokens')
@Security('basic')
@Security('bearer')
export class TokensV3Controller extends V3Resource {
  /**
   * The caller's tokens. For callers with the permission `tokens.admin`, the tokens of all users.
   * @param like Only tokens whose name, id or user contains these letters, in upper or lower case.
   * @param limit At most so many tokens; the default is all.
   */
  @Get('')
  async list(@Query() like?: string, @Query() limit?: number): Promise<TokenList> {
    const most = limit === undefined ? TOKENS_MAX : readLimit(limit)
    const letters = (like ?? '').toLowerCase()
    const tokens = await this.v3.gantry.tokens(this.v3.identity)
    const found = tokens.filter(({ name, id, user }) => `${name}\n${id}\n${user}`.toLowerCase().includes(letters))
    return { items: found.slice(0, most).map(tokenShape) }
  }

  /** Creates a token. It is valid for this API (`/3`) and `/metrics`. Ganeti's API (`/2`) accepts only passwords, and answers 401. */
  @Post('')
  @SuccessResponse(201, 'Created')
  async create(@Body() body: TokenRequest): Promise<TokenCreated> {
    const { identity, gantry, reply } = this.v3
    const requested = tokenBody.read(body)
    inFuture('expires', requested.expires, seconds(this.context.services.clock))
    const { token, secret } = await gantry.addToken(identity, requested)
    reply.status = 201
    return { token: tokenShape(token), secret }
  }

  /** Revokes a token. It is refused from now on, even on open streams. */
  @Delete('{id}')
  @SuccessResponse(204, 'Revoked')
  async revoke(@Path() id: string): Promise<void> {
    await this.v3.gantry.removeToken(this.v3.identity, id)
    this.v3.reply.status = 204
  }
}
