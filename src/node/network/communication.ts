// The tap device of a communication NIC: over it the guest reaches its node's metadata address, and nothing else. All
// these devices have the same address, so the kernel distinguishes guests by a route to each.
import type { Files } from '../../lib/files'
import type { Machine } from '../../lib/machine'
import type { Paths } from '../../lib/paths'
import { COMMUNICATION, isCommunicationNic, METADATA_ADDRESS } from '../../model/constants/communication'
import type { NicDict } from '../../rpc/node/dicts'
import { HypervisorFailure } from '../hypervisor/hypervisor'
import { nicCommand } from './nic-command'

export const asksNode = (nic: NicDict): boolean =>
  isCommunicationNic(nic) && nic.nicparams.mode === COMMUNICATION.mode && nic.ip !== undefined

/** metad's socket for the instance with this address, if QEMU passes on the guest's requests. */
export const relaySocket = (paths: Pick<Paths, 'metadataSocketDir'>, address: string): string =>
  `${paths.metadataSocketDir}/${address}`

/** An unused tap name. Another start may take it first; making the device then fails. */
export async function freeTapName(files: Files): Promise<string> {
  const taken = (await files.readdir('/sys/class/net')).flatMap((name) => TAP_NAME.exec(name)?.[1] ?? [])
  return `${COMMUNICATION.tapPrefix}${Math.max(-1, ...taken.map(Number)) + 1}`
}

const TAP_NAME = /^gnt\.com\.(\d{1,6})$/

/** Sets up the device. May be called again. */
export async function connectCommunication(
  { run }: Pick<Machine, 'run'>,
  { ip, uuid }: NicDict,
  tap: string,
): Promise<void> {
  if (ip === undefined) throw new HypervisorFailure(`Communication NIC ${uuid} has no IP address`)
  await nicCommand(run, ['ip', 'link', 'set', 'dev', tap, 'up'])
  await nicCommand(run, ['ip', 'address', 'replace', `${METADATA_ADDRESS}/32`, 'dev', tap])
  await nicCommand(run, ['ip', '-4', 'route', 'replace', `${ip}/32`, 'dev', tap])
}

/**
 * A script of Debian's Ganeti ends without an error and without having done anything, when it does not find the files
 * of its package.
 */
export async function requireRoute(
  { run }: Pick<Machine, 'run'>,
  { ip = '' }: NicDict,
  tap: string,
  script: string,
  said: string,
): Promise<void> {
  if ((await nicCommand(run, ['ip', '-4', 'route', 'show', `${ip}/32`, 'dev', tap])) !== '') return
  throw new HypervisorFailure(
    `${script} has not routed ${ip} to ${tap}, so the guest could not ask for metadata` +
      `${said === '' ? '' : ` (it said: ${said})`}. Mend the script, or remove it: without it the node does this itself`,
  )
}

/**
 * Whether this node sends packets for the address to a communication tap and nowhere else. If so, the guest itself made the connection: a
 * machine that only pretends to have the address would not have received the answer to its first packet.
 */
export async function isRoutedToGuest(files: Files, address: string, endianness: 'BE' | 'LE'): Promise<boolean> {
  const bytes = address.split('.').map(Number)
  const hex = (endianness === 'LE' ? bytes.toReversed() : bytes)
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase()
  const routes = (await files.readFile(ROUTES, 'utf8')).split('\n').map((line) => line.split('\t'))
  const own = routes.filter(([, destination, , , , , , mask]) => destination === hex && mask === 'FFFFFFFF')
  return own.length > 0 && own.every(([device = '']) => TAP_NAME.test(device))
}

/** The columns of each route: device, destination, gateway, flags, use, and last the mask. */
const ROUTES = '/proc/net/route'
