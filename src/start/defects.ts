// What a daemon does about a failure that nothing has handled. That is a defect of ours, after which its memory may be wrong.
import type { Log } from '../lib/log'

interface Parts {
  /** The process that has the defects. */
  readonly process: Pick<NodeJS.Process, 'on'>
  readonly log: Pick<Log, 'error'>
  /** Whether the daemon loses nothing when it ends, so that it need not go on in a state that nobody knows. */
  readonly losesNothing: boolean
  /** Ends the process; whoever started it starts it again. */
  end(): void
}

export function watchDefects({ process, log, losesNothing, end }: Parts): void {
  const giveUp = (err: unknown) => {
    log.error({ err }, 'the daemon ends because of a defect; it is started again, and goes on with what is on the disk')
    end()
  }
  process.on('uncaughtException', giveUp)
  process.on('unhandledRejection', (err) =>
    losesNothing ? giveUp(err) : log.error({ err }, 'a promise was rejected and nothing handled it'),
  )
}
