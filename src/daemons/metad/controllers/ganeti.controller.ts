// Ganeti's paths: what an instance may ask of itself while it is installed, and later.
import { notFound } from '../../../http/errors'
import { Get, Path, Post, Produces, Response, Route, Tags } from '../../../http/decorators'
import { asText, Download, type MetadContext, Plain } from '../context'

/** The value of an OS parameter, and who may know it: `public`, `private` or `secret`. */
export type OsParameter = string[]

/** A network interface of the instance. */
interface GuestNic {
  mac: string
  name: string | null
  ip: string | null
  /** The network that it is in. */
  network: string | null
  /** The addresses of that network. */
  subnet: string | null
  gateway: string | null
  subnet6: string | null
  gateway6: string | null
}

/** A disk of the instance. */
interface GuestDisk {
  uuid: string
  name: string | null
  /** In MiB. */
  size: number
}

/** What everybody may know of the instance. */
export interface GuestMetadata {
  name: string
  uuid: string
  /** The OS definition and its variant. */
  os: string
  tags: string[]
  nics: GuestNic[]
  disks: GuestDisk[]
}

@Route('')
@Tags('ganeti')
export class GanetiController {
  constructor(private readonly context: MetadContext) {}

  /** The versions of this interface. */
  @Get('')
  versions(): string[] {
    return ['latest']
  }

  /** The instance that asks: its name, NICs and disks. */
  @Get('ganeti/latest/meta_data.json')
  metadata(): GuestMetadata {
    const { name, uuid, os, tags = [], nics, disks_info: disks } = this.context.guest
    return {
      ...{ name, uuid, os, tags: [...tags] },
      nics: nics.map(({ mac, name: nicName = null, ip = null, netinfo }) => ({
        ...{ mac, name: nicName, ip, network: netinfo?.name ?? null, subnet: netinfo?.network ?? null },
        ...{
          gateway: netinfo?.gateway ?? null,
          subnet6: netinfo?.network6 ?? null,
          gateway6: netinfo?.gateway6 ?? null,
        },
      })),
      disks: disks.map(({ uuid: disk, name: diskName = null, size }) => ({ uuid: disk, name: diskName, size })),
    }
  }

  /** Its OS parameters; private and secret ones only while it is installed. */
  @Get('ganeti/latest/os/parameters.json')
  parameters(): { [name: string]: OsParameter } {
    const { osparams, osparams_private: hidden, osparams_secret: secret } = this.context.guest
    const kinds = Object.entries({ public: osparams, private: hidden, secret })
    return Object.fromEntries(
      kinds.flatMap(([kind, values]) => Object.entries(values).map(([name, value]) => [name, [value, kind]])),
    )
  }

  /** The OS definition and its environment as an archive, for an installation in a helper machine. */
  @Get('ganeti/latest/os/os-install-package')
  @Produces('application/octet-stream')
  installPackage(): Promise<string> {
    return this.file('os-install-package')
  }

  /** The archive that the OS parameter `os-package` names. */
  @Get('ganeti/latest/os/package')
  @Produces('application/octet-stream')
  package(): Promise<string> {
    return this.file('os-package')
  }

  /**
   * A script of its OS definition.
   * @param script Which one.
   */
  @Get('ganeti/latest/os/scripts/{script}')
  @Produces('application/octet-stream')
  async script(@Path() script: 'create' | 'export' | 'import' | 'rename' | 'verify'): Promise<string> {
    const { guest, node } = this.context
    const file = isScriptName(script) ? await node.script(guest.os, script) : undefined
    if (file === undefined) throw notFound()
    return asText(new Download(file, FILE))
  }

  /** What the node has for the instance: nothing yet, as in Ganeti. */
  @Get('ganeti/latest/read')
  @Produces('text/plain')
  @Response(405, 'Another method: `GET` alone reads.')
  read(): string {
    return NOTHING
  }

  /** Takes what the instance has for the node, and keeps nothing of it, as in Ganeti. */
  @Post('ganeti/latest/write')
  @Produces('text/plain')
  @Response(405, 'Another method: `POST` alone writes.')
  write(): string {
    return NOTHING
  }

  private async file(parameter: string): Promise<string> {
    const named = this.context.guest.osparams[parameter]
    const file = named === undefined ? undefined : await this.context.node.installPackage(named)
    if (file === undefined) throw notFound()
    return asText(new Download(file, FILE))
  }
}

const FILE = 'application/octet-stream'
const NOTHING = asText(new Plain('', 'text/plain'))

const SCRIPTS: readonly string[] = ['create', 'export', 'import', 'rename', 'verify']

/** What comes over the wire may be any text. */
const isScriptName = (name: string): boolean => SCRIPTS.includes(name)
