// Requests to mond for the last hours.
import { Get, Path, Query, Route, Tags } from '../../../http/decorators'
import type { InstanceHistory, NodeHistory } from '../../../model/history'
import type { MondContext } from '../context'

@Route('1/history')
@Tags('history')
export class HistoryController {
  constructor(private readonly context: MondContext) {}

  /**
   * The last hours of this node: it is measured once a minute, whether somebody asks or not.
   * @param since Only what was measured later, in seconds since the epoch.
   * @isDouble since
   */
  @Get('node')
  node(@Query() since = 0): NodeHistory {
    return this.context.history.ofNode(since)
  }

  /**
   * The last hours of an instance of KVM, as long as it ran on this node. An instance that never did has an empty history.
   * @param name The name of the instance.
   * @param since Only what was measured later, in seconds since the epoch.
   * @isDouble since
   */
  @Get('instance/{name}')
  instance(@Path() name: string, @Query() since = 0): InstanceHistory {
    return this.context.history.ofInstance(name, since)
  }
}
