// Requests of /3 about the users of the remote API.
import { Get, Route, Security, Tags } from '../../../../http/decorators'
import { V3Resource } from './resource'

/** A user of the remote API. Its password is never shown. */
interface UserView {
  name: string
  /** The options of its line in the users file: roles such as `@operator`, permissions, and Ganeti's `read` and `write`. */
  options: string[]
  /** The resulting permissions, as patterns: `*` for everything, a minus in front for a denied one. */
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
  /** The users who may log in, and what they may do. Users are lines of a file on the master, which is edited there. */
  @Get('')
  async list(): Promise<UserList> {
    const { identity, gantry, users } = this.v3
    await gantry.users(identity)
    return { items: users() }
  }
}
