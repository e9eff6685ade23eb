// The files that a master may write on this node, and how. All others are refused.
import { errorText } from '../lib/system-failure'
import * as path from 'node:path'
import { isMissing } from '../lib/disk'
import { readServerPem } from '../lib/server-pem'
import { MODE } from '../model/constants/daemons'
import { PATH } from '../model/constants/paths'
import type { UploadedFile } from '../rpc/node/dicts'
import { fileOwner } from '../lib/file/accounts'
import type { NodeContext } from './context'
import { fail } from './failure'
import { SSCONF_BYTES_MAX } from '../model/limits/node'

const GANTRY_DATA = `${PATH.DATA_DIR}/gantry.data`

/** Ganeti's list, the list of further files, and the cluster's renewed certificate. */
const ALLOWED: readonly string[] = [
  PATH.CLUSTER_CONF_FILE,
  PATH.ETC_HOSTS,
  PATH.SSH_KNOWN_HOSTS_FILE,
  PATH.VNC_PASSWORD_FILE,
  PATH.RAPI_CERT_FILE,
  PATH.RAPI_USERS_FILE,
  PATH.SPICE_CERT_FILE,
  PATH.SPICE_CACERT_FILE,
  PATH.CLUSTER_DOMAIN_SECRET_FILE,
  PATH.CONFD_HMAC_KEY,
  PATH.NODED_CERT_FILE,
  PATH.NIC_SCRIPT,
  PATH.DISTRIBUTE_FILES,
  GANTRY_DATA,
]
const CONFIG: readonly string[] = [PATH.CLUSTER_CONF_FILE, GANTRY_DATA]

/** Works on the files of the configuration while no process has them open. */
export const withConfigFiles = ({ configReplica }: NodeContext, work: () => Promise<void>): Promise<void> =>
  configReplica === undefined ? work() : configReplica.alone(work)

/** `file.path` is local. Replaces the file as a whole, durably. */
export async function receiveFile(context: NodeContext, file: UploadedFile): Promise<void> {
  const { paths, disk } = context
  const virtual = paths.virtual(file.path)
  if (!ALLOWED.includes(virtual)) fail(`Files like '${virtual}' are not accepted: it is not on the list of uploads`)
  if (virtual === PATH.NODED_CERT_FILE) await checkRenewal(context, file.content)
  const owner = fileOwner(context.files, file.owner, file.group)
  const write = async () => {
    await disk.makeDirectory(path.dirname(file.path))
    await disk.write(file.path, file.content, { mode: file.mode ?? MODE.secureFile, ...(owner ? { owner } : {}) })
  }
  // Ganeti's master sends config.data so. What is known of the former content must not be written over it later.
  await (CONFIG.includes(virtual) ? withConfigFiles(context, write) : write())
  if (file.mtime !== null) await context.files.utimes(file.path, file.atime ?? file.mtime, file.mtime)
}

/** A node that shows a certificate that others do not trust would be unreachable. */
async function checkRenewal({ disk, paths }: NodeContext, content: string): Promise<void> {
  const present = (await disk.read(paths.serverCert)) ?? fail('This node has no cluster certificate')
  if (!present.includes(shownIn(content)))
    fail('The cluster certificate is replaced only by one that this node trusts already')
}

function shownIn(pem: string): string {
  try {
    return readServerPem(pem).shown.certificate.trim()
  } catch (error) {
    return fail(`Not a cluster certificate: ${errorText(error)}`)
  }
}

const SSCONF_KEY = /^[a-z0-9_-]+$/

/** Writes changed values. Checks all of them first, so that a wrong one changes nothing. */
export async function receiveSsconf(
  context: NodeContext,
  values: Readonly<Record<string, string | readonly string[]>>,
): Promise<void> {
  const files = Object.entries(values).map(([key, value]) => {
    const lines = typeof value === 'string' ? value : value.join('\n')
    if (!SSCONF_KEY.test(key)) fail(`Not a key of ssconf: ${JSON.stringify(key)}`)
    if (Buffer.byteLength(lines) > SSCONF_BYTES_MAX)
      fail(`The ssconf value ${key} is longer than ${SSCONF_BYTES_MAX} bytes`)
    return { file: context.paths.ssconf(key), text: lines === '' || lines.endsWith('\n') ? lines : `${lines}\n` }
  })
  await Promise.all(
    files.map(async ({ file, text }) => {
      if ((await context.disk.read(file))?.toString('utf8') !== text) await context.disk.write(file, text)
    }),
  )
}

/** Writes a file anywhere in the job queue. */
export async function receiveQueueFile(context: NodeContext, file: string, content: string): Promise<void> {
  const { disk } = context
  checkQueueFile(context, file)
  try {
    await disk.write(file, content)
  } catch (error) {
    if (!isMissing(error)) throw error
    await disk.makeDirectory(path.dirname(file))
    await disk.write(file, content)
  }
}

/** `file` is local, absolute and without `..`, which its shape has checked. */
export function checkQueueFile(context: NodeContext, file: string): string {
  if (file.startsWith(`${context.paths.queueDir}/`)) return file
  return fail(`'${context.paths.virtual(file)}' is not a file of the job queue`)
}
