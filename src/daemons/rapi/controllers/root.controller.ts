// Requests of /2 for addresses that list others, and for the version.
import { Get, Route, Tags } from '../../../http/decorators'
import { Resource } from './resource'

@Route('')
@Tags('cluster')
export class RootController extends Resource {
  /** The root of the remote API. */
  @Get('')
  root(): null {
    return null
  }

  /** The version of the remote API. */
  @Get('version')
  version(): number {
    return 2
  }

  /** The root of version 2. */
  @Get('2')
  root2(): null {
    return null
  }
}
