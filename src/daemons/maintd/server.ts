// The door of the maintenance daemon. As in Ganeti, everybody may look. Changes need a login, as in the remote API.
import type { AddressInfo } from 'node:net'
import { PROBLEM_TYPE } from '../../http/problem'
import { serve } from '../../http/serve'
import type { Files } from '../../lib/files'
import type { Random } from '../../lib/random'
import type { CertificateFiles } from '../../lib/tls'
import { MAINTD_HTTP_LIMITS } from '../../model/limits/maintenance'
import { maintdApplication } from './application'
import type { MaintdServices } from './context'

export interface MaintdOptions extends MaintdServices {
  readonly random: Random
  readonly files: Files
  readonly addresses: readonly string[]
  /** 0 chooses a free port. */
  readonly port: number
  /** The file of the remote API's certificate. */
  readonly certificate: CertificateFiles
}

export interface Maintd {
  readonly addresses: readonly AddressInfo[]
  close(): Promise<void>
}

export function startMaintd(options: MaintdOptions): Promise<Maintd> {
  const { addresses, port, log, clock, random, files, certificate, problemOf } = options
  return serve({
    ...{ addresses, port, log, clock, random, files, certificate, limits: MAINTD_HTTP_LIMITS },
    application: maintdApplication(options),
    words: { type: PROBLEM_TYPE, body: (error) => Buffer.from(JSON.stringify(problemOf(error))) },
  })
}
