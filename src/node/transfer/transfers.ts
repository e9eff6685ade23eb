// Transfers in the node daemon: a directory for each, with its status and its process.
import * as path from 'node:path'
import { fileTime } from '../../lib/clock'
import { isMissing } from '../../lib/disk'
import { PATH } from '../../model/constants/paths'
import { OS_LOGS_MAX } from '../../model/limits/node'
import { TRANSFER_ACCEPT_S, TRANSFER_CONNECT_RETRIES, TRANSFER_CONNECT_S } from '../../model/limits/transfers'
import type { ImpExpEnd, ImpExpOptions, ImpExpStatus, InstanceDict } from '../../rpc/node/dicts'
import { fail } from '../failure'
import type { NodeContext } from '../context'
import { certificateFiles } from '../certificates'
import { isVirtualNode } from '../network/addresses'
import { transferEnd } from './ends'
import { transferProgram } from './program'
import { keepNewest } from '../leftovers'
import { ownProcess } from '../own-process'
import type { TransferSpec } from './spec'

export interface TransferRequest {
  readonly mode: TransferSpec['mode']
  readonly options: ImpExpOptions
  /** The host of the importing end, for an export. */
  readonly host?: string
  readonly port?: number
  readonly instance: InstanceDict
  readonly component: string
  readonly end: ImpExpEnd
}

const NAME = /^(import|export)-[A-Za-z0-9_.-]+$/
const COMPONENT = /^[A-Za-z0-9_.-]+$/
const MAGIC = /^[-_.a-zA-Z0-9]{5,100}$/
const TOOL = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/

/** Starts a transfer in a separate process. Returns its name. */
export async function startTransfer(context: NodeContext, request: TransferRequest): Promise<string> {
  if (!COMPONENT.test(request.component)) fail(`Invalid name of a component: '${request.component}'`)
  const spec = await specOf(context, request)
  const { files } = context
  const base = context.paths.local(PATH.IMPORT_EXPORT_DIR)
  await files.mkdir(base, { recursive: true, mode: 0o700 })
  const directory = await files.mkdtemp(
    path.join(base, `${request.mode}-${request.component}-${fileTime(context.clock)}-`),
  )
  try {
    await launch(context, request, spec, directory)
  } catch (error) {
    await files.rm(directory, { recursive: true, force: true })
    throw error
  }
  return path.basename(directory)
}

async function specOf(context: NodeContext, request: TransferRequest): Promise<Omit<TransferSpec, 'log'>> {
  const { mode, options, host, port } = request
  const { key_name, ca_pem, magic, compress = 'none', connect_timeout } = options
  if ((key_name === undefined) !== (ca_pem === undefined))
    fail('The name of a key and the certificate of the other end are only of use together')
  if (magic !== undefined && !MAGIC.test(magic)) fail('The magic value has characters that are not allowed')
  if (!TOOL.test(compress)) fail(`Invalid name of a compression tool: '${compress}'`)
  const own = context.paths.serverCert
  const pair = key_name === undefined ? { keyFile: own, certFile: own } : certificateFiles(context, key_name)
  for (const file of Object.values(pair))
    await context.files.access(file).catch(() => fail(`File '${context.paths.virtual(file)}' does not exist`))
  return {
    ...{ mode, ...pair, compress },
    ca: ca_pem ?? (await context.files.readFile(own, 'utf8')),
    ...(magic !== undefined && { magic }),
    ...(await transferEnd(context, mode, request.instance, request.end)),
    ...(mode === 'export' ? { host: host ?? fail('An export needs a host'), port: port ?? fail('and a port') } : {}),
    ...(mode === 'import' && isVirtualNode(context.paths) && { bind: context.bindAddress }),
    connectTimeout_s: mode === 'export' ? TRANSFER_CONNECT_S : (connect_timeout ?? TRANSFER_ACCEPT_S),
    connectRetries: TRANSFER_CONNECT_RETRIES,
  }
}

async function launch(
  context: NodeContext,
  { mode, instance, component }: TransferRequest,
  spec: Omit<TransferSpec, 'log'>,
  directory: string,
): Promise<void> {
  const { files, processes } = context
  const logs = context.paths.local(PATH.LOG_OS_DIR)
  await files.mkdir(logs, { recursive: true, mode: 0o750 })
  await keepNewest(files, logs, OS_LOGS_MAX - 1)
  const name = [mode, instance.os.replaceAll('/', '_'), instance.name, component, fileTime(context.clock)]
  const file = path.join(logs, `${name.join('-')}.log`)
  const log = await files.open(file, 'a', 0o640)
  try {
    const started = await processes.start([process.execPath, transferProgram, statusFile(directory)], log.fd)
    // Written before there can be a status: a transfer without a process counts as dead.
    const pidFile = path.join(directory, 'pid')
    await files.writeFile(pidFile, `${started.pid}\n`, { mode: 0o600 }).catch((error: unknown) => {
      // Nobody could find it any more, and it would wait for its input for ever.
      processes.signal(-started.pid, 'SIGKILL')
      throw error
    })
    started.feed(JSON.stringify({ ...spec, log: context.paths.virtual(file) } satisfies TransferSpec))
  } finally {
    await log.close()
  }
}

/** Null while there is no status. */
export async function transferStatus(context: NodeContext, name: string): Promise<ImpExpStatus | null> {
  const directory = directoryOf(context, name)
  const alive = (await processOf(context, directory)) !== undefined
  const status = await readStatus(context, directory)
  // Its process died silently; nothing else would ever report its end.
  if (status !== null && status.exit_status === undefined && !alive)
    return { ...status, exit_status: 1, error_message: 'The process of the transfer died' }
  return status
}

async function readStatus({ files }: NodeContext, directory: string): Promise<ImpExpStatus | null> {
  try {
    // Only the transfer's own process writes it, and always as a whole.
    return JSON.parse(await files.readFile(statusFile(directory), 'utf8')) as ImpExpStatus
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

export async function abortTransfer(context: NodeContext, name: string): Promise<void> {
  await signal(context, directoryOf(context, name), 'SIGTERM')
}

/** Ends what still runs, and removes the transfer. */
export async function cleanUpTransfer(context: NodeContext, name: string): Promise<void> {
  const directory = directoryOf(context, name)
  await signal(context, directory, 'SIGKILL')
  await context.files.rm(directory, { recursive: true, force: true })
}

function directoryOf(context: NodeContext, name: string): string {
  if (!NAME.test(name)) fail(`Invalid name of a transfer: '${name}'`)
  return path.join(context.paths.local(PATH.IMPORT_EXPORT_DIR), name)
}

const statusFile = (directory: string): string => path.join(directory, 'status')

/** Signals the transfer's process and everything that it started. */
async function signal(context: NodeContext, directory: string, name: NodeJS.Signals): Promise<void> {
  const pid = await processOf(context, directory)
  if (pid !== undefined) context.processes.signal(-pid, name)
}

const processOf = ({ files }: NodeContext, directory: string): Promise<number | undefined> =>
  ownProcess(files, path.join(directory, 'pid'), directory)
