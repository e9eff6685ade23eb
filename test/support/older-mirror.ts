// A mirrored disk of an earlier version, in which a side that is being synchronized leaves all writes to the other side.
import type { Hello, Link } from '../../src/node/mirror/link'
import type { Ends } from '../../src/node/mirror/meeting'
import { MirroredDisk } from '../../src/node/mirror/mirror'

export class OlderDisk extends MirroredDisk {
  protected override hello(ends: Ends): Hello {
    const { keeps: _, ...hello } = super.hello(ends)
    return hello
  }

  protected override meet(link: Link, mine: Hello, theirs: Hello): Promise<boolean> {
    return super.meet(link, mine, { ...theirs, keeps: false })
  }
}
