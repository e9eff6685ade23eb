// Consoles of instances, on whatever node these are, for callers that may see them.
import { fillHvParams } from '../../config/filled'
import { findInstance } from '../../config/lookup'
import { recordGet } from '../../config/records'
import type { Instance } from '../../model/config'
import { PATH } from '../../model/constants/paths'
import { ECODE, GenericError, OpPrereqError } from '../../model/errors'
import { CONSOLES_MAX } from '../../model/limits/consoles'
import type { ConsoleChoices, ConsoleRequest, ConsoleTalk, SpiceScreen } from '../../rpc/luxi/consoles'
import type { Identity } from '../../rpc/luxi/gantry'
import type { Access } from '../access/access'
import type { GantryDocument } from '../access/tokens'
import type { MasterContext } from '../master-context'
import { ConsoleSession } from './console-session'

export class ConsoleService {
  private readonly sessions = new Set<ConsoleSession>()

  constructor(
    private readonly context: MasterContext,
    private readonly documents: GantryDocument,
    private readonly access: (identity: Identity) => Access,
  ) {}

  async choices(caller: Access, name: string): Promise<ConsoleChoices> {
    const instance = this.find(caller, name)
    const config = this.context.config()
    const node = recordGet(config.nodes, instance.primary_node)?.name ?? ''
    const params = fillHvParams(config.cluster, instance)
    const kinds = [
      ...(params['serial_console'] === true ? (['serial'] as const) : []),
      ...(isText(params['vnc_bind_address']) ? (['vnc'] as const) : []),
    ]
    return { instance: instance.name, node, kinds, spice: await this.spice(instance, params, node) }
  }

  open(caller: Access, request: ConsoleRequest): ConsoleTalk {
    const { context } = this
    const { uuid, name } = this.find(caller, request.instance)
    const { openConsole: openNode } = context
    if (openNode === undefined) throw new GenericError('Consoles are not served here')
    if (this.sessions.size >= CONSOLES_MAX)
      throw new OpPrereqError(`${CONSOLES_MAX} consoles are open already; close some first`, ECODE.TEMP_NORES)
    return async (viewer) => {
      const { identity } = caller
      const session = new ConsoleSession(
        {
          ...{ identity, uuid, openNode, clock: context.clock, access: this.access },
          request: { ...request, instance: name },
          config: () => context.config(),
        },
        viewer,
      )
      this.sessions.add(session)
      const unfollow = this.documents.onChange(() => session.look())
      try {
        await session.run()
      } finally {
        unfollow()
        this.sessions.delete(session)
      }
    }
  }

  /** A caller that may not see an instance does not learn whether it exists. */
  private find(caller: Access, name: string): Instance {
    const config = this.context.config()
    const instance = findInstance(config, name)
    caller.check(config, { OP_ID: 'OP_INSTANCE_CONSOLE', instance_name: instance?.name ?? name })
    if (instance === undefined) throw new OpPrereqError(`Instance '${name}' not known`, ECODE.NOENT)
    return instance
  }

  private async spice(
    { network_port: port }: Instance,
    params: Readonly<Record<string, unknown>>,
    node: string,
  ): Promise<SpiceScreen | null> {
    const { spice_bind: bind } = params
    // Both kinds of screen use the same port.
    if (!isText(bind) || isText(params['vnc_bind_address']) || typeof port !== 'number') return null
    const tls = params['spice_use_tls'] === true
    const { disk, paths } = this.context
    const ca = tls ? await disk.read(paths.local(PATH.SPICE_CACERT_FILE)) : undefined
    return {
      // A screen that listens everywhere, or on an interface, is reached at its node.
      host: /^[\d.]+$|:/.test(bind) && !/^(0\.0\.0\.0|::)$/.test(bind) ? bind : node,
      ...{ port, tls, password: isText(params['spice_password_file']), ca: ca?.toString('utf8') ?? null },
    }
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
