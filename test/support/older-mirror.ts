// A mirrored disk of an earlier version, in which a side that is being synchronized leaves all writes to the other side. It knows no pings.
import type { Answer, Hello, Link, Request } from '../../src/node/mirror/link'
import type { Ends } from '../../src/node/mirror/handshake'
import { MirroredDisk } from '../../src/node/mirror/mirror'

export class OlderDisk extends MirroredDisk {
  protected override hello(ends: Ends): Hello {
    const { keeps: _keeps, pings: _pings, ...hello } = super.hello(ends)
    return hello
  }

  protected override serve(link: Link, request: Request, body: Buffer): Promise<Answer> {
    const isNew = request.verb === 'ping' || request.verb === 'ready'
    return super.serve(link, isNew ? ({ verb: 'unknown' } as unknown as Request) : request, body)
  }

  protected override meet(link: Link, mine: Hello, theirs: Hello): Promise<boolean> {
    return super.meet(link, mine, { ...theirs, keeps: false, pings: false })
  }
}
