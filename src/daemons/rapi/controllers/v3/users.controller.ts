// Requests of /3 about the users of the remote API.
import { Get, Route, Security, Tags } from '../../../../http/decorators'
import { V3Resource } from './resource'

/** A user of the remote API. Its password is told nobody. */
export interface UserView {
  name: string
  /** What its line in the users file gives it: roles as `@operator`, permissions, Ganeti's `read` and `write`. */
  options: string[]
  /** The permissions that follow from that, as patterns: `*` for everything, a minus for what is taken away. */
  permissions: string[]
}

/** All users. */
export interface UserList {
  items: UserView[]
}

@Route('3/users')
@Tags('tokens')
@Security('basic')
@Security('bearer')
export class UsersV3Controller extends V3Resource {
  /** Who may log in, and what they may do. Users are lines of a file on the master: it is edited there. */
  @Get('')
  async list(): Promise<UserList> {
    const { identity, gantry, users } = this.v3
    await gantry.users(identity)
    return { items: users() }
  }
}
