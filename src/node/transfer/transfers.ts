// Transfers as the node daemon sees them: a directory for each, with its status and the process that does it.
import { spawn } from 'node:child_process'
import * as fs from 'node:fs/promises'
import * as path from 'node:path'
import { fileTime } from '../../lib/clock'
import { isMissing } from '../../lib/disk'
import { PATH } from '../../model/constants/paths'
import { OS_LOGS_MAX } from '../../model/limits/node'
import { TRANSFER_ACCEPT_S, TRANSFER_CONNECT_RETRIES, TRANSFER_CONNECT_S } from '../../model/limits/transfers'
import type { ImpExpEnd, ImpExpOptions, ImpExpStatus, InstanceDict } from '../../rpc/node/dicts'
import { fail, type NodeContext } from '../context'
import { certificateFiles } from '../certificates'
import { isVirtualNode } from '../network'
import { transferEnd } from './ends'
import { transferProgram } from './program'
import { keepNewest } from '../leftovers'
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

/** Starts a transfer in a process of its own; answers with its name. */
export async function startTransfer(context: NodeContext, request: TransferRequest): Promise<string> {
  if (!COMPONENT.test(request.component)) fail(`Invalid name of a component: '${request.component}'`)
  const spec = await specOf(context, request)
  const base = context.paths.local(PATH.IMPORT_EXPORT_DIR)
  await fs.mkdir(base, { recursive: true, mode: 0o700 })
  const directory = await fs.mkdtemp(
    path.join(base, `${request.mode}-${request.component}-${fileTime(context.clock)}-`),
  )
  try {
    await launch(context, request, spec, directory)
  } catch (error) {
    await fs.rm(directory, { recursive: true, force: true })
    throw error
  }
  return path.basename(directory)
}

async function specOf(context: NodeContext, request: TransferRequest): Promise<TransferSpec> {
  const { mode, options, host, port } = request
  const { key_name, ca_pem, magic, compress = 'none', connect_timeout } = options
  if ((key_name === undefined) !== (ca_pem === undefined))
    fail('The name of a key and the certificate of the other end are only of use together')
  if (magic !== undefined && !MAGIC.test(magic)) fail('The magic value has characters that are not allowed')
  if (!TOOL.test(compress)) fail(`Invalid name of a compression tool: '${compress}'`)
  const own = context.paths.serverCert
  const files = key_name === undefined ? { keyFile: own, certFile: own } : certificateFiles(context, key_name)
  for (const file of Object.values(files))
    await fs.access(file).catch(() => fail(`File '${context.paths.virtual(file)}' does not exist`))
  return {
    ...{ mode, ...files, compress },
    ca: ca_pem ?? (await fs.readFile(own, 'utf8')),
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
  spec: TransferSpec,
  directory: string,
): Promise<void> {
  const logs = context.paths.local(PATH.LOG_OS_DIR)
  await fs.mkdir(logs, { recursive: true, mode: 0o750 })
  await keepNewest(logs, OS_LOGS_MAX - 1)
  const name = [mode, instance.os.replaceAll('/', '_'), instance.name, component, fileTime(context.clock)]
  const log = await fs.open(path.join(logs, `${name.join('-')}.log`), 'a', 0o640)
  try {
    const child = spawn(process.execPath, [transferProgram, statusFile(directory)], {
      stdio: ['pipe', log.fd, log.fd],
      env: {},
      detached: true,
    })
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject))
    await fs.writeFile(path.join(directory, 'pid'), `${child.pid}\n`, { mode: 0o600 })
    child.stdin?.on('error', () => undefined).end(JSON.stringify(spec))
    child.unref()
  } finally {
    await log.close()
  }
}

/** Null where there is no status yet. */
export async function transferStatus(context: NodeContext, name: string): Promise<ImpExpStatus | null> {
  const directory = directoryOf(context, name)
  const alive = (await processOf(directory)) !== undefined
  const status = await readStatus(directory)
  // Its process died without a last word; nobody else would ever say that it is over.
  if (status !== null && status.exit_status === undefined && !alive)
    return { ...status, exit_status: 1, error_message: 'The process of the transfer died' }
  return status
}

async function readStatus(directory: string): Promise<ImpExpStatus | null> {
  try {
    // Only the transfer's own process writes it, and always whole.
    return JSON.parse(await fs.readFile(statusFile(directory), 'utf8')) as ImpExpStatus
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

export async function abortTransfer(context: NodeContext, name: string): Promise<void> {
  await signal(directoryOf(context, name), 'SIGTERM')
}

/** Ends what still runs, and forgets the transfer. */
export async function cleanUpTransfer(context: NodeContext, name: string): Promise<void> {
  const directory = directoryOf(context, name)
  await signal(directory, 'SIGKILL')
  await fs.rm(directory, { recursive: true, force: true })
}

function directoryOf(context: NodeContext, name: string): string {
  if (!NAME.test(name)) fail(`Invalid name of a transfer: '${name}'`)
  return path.join(context.paths.local(PATH.IMPORT_EXPORT_DIR), name)
}

const statusFile = (directory: string): string => path.join(directory, 'status')

/** The transfer's process with all that it started. */
async function signal(directory: string, name: NodeJS.Signals): Promise<void> {
  const pid = await processOf(directory)
  if (pid === undefined) return
  try {
    process.kill(-pid, name)
  } catch {
    // It ended by itself meanwhile.
  }
}

/** Undefined when it is gone; its number may then belong to another process. */
async function processOf(directory: string): Promise<number | undefined> {
  try {
    const pid = Number(await fs.readFile(path.join(directory, 'pid'), 'utf8'))
    const stat = await fs.readFile(`/proc/${pid}/stat`, 'utf8')
    const command = await fs.readFile(`/proc/${pid}/cmdline`, 'utf8')
    const zombie = stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
    return !zombie && command.includes(directory) ? pid : undefined
  } catch {
    return undefined
  }
}
