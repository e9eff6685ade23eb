// The seed that cloud-init's data source NoCloud reads over HTTP. The same texts are on the disk that an instance may have for it.
import { Get, Produces, Route, Tags } from '../../../http/decorators'
import { noCloudSeed, type Seed } from '../../../model/cloud-init/seed'
import { asText, type MetadContext, Plain } from '../context'

@Route('nocloud')
@Tags('nocloud')
export class NocloudController {
  constructor(private readonly context: MetadContext) {}

  /** The instance's id, its host name, and the public keys of its user. */
  @Get('meta-data')
  @Produces('text/plain')
  metaData(): string {
    return this.part('meta-data')
  }

  /** The user and the password, or the OS parameter `user_data`; secret values only while the instance is installed. */
  @Get('user-data')
  @Produces('text/plain')
  userData(): string {
    return this.part('user-data')
  }

  /** The addresses of its NICs. */
  @Get('network-config')
  @Produces('text/plain')
  networkConfig(): string {
    return this.part('network-config')
  }

  private part(name: keyof Seed): string {
    const { guest } = this.context
    const params = { ...guest.osparams, ...guest.osparams_private, ...guest.osparams_secret }
    return asText(new Plain(noCloudSeed(guest, params)[name], 'text/plain; charset=utf-8'))
  }
}
