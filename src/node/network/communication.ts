// The tap device of a communication NIC: the guest reaches the metadata address of its node there, and nothing else. All these devices
// have the same address, so the kernel tells guests apart by a route to each.
import type { Files } from '../../lib/files'
import type { Machine } from '../../lib/machine'
import type { Paths } from '../../lib/paths'
import { COMMUNICATION, isCommunicationNic, METADATA_ADDRESS } from '../../model/constants/communication'
import type { NicDict } from '../../rpc/node/dicts'
import { HypervisorFailure } from '../hypervisor/hypervisor'
import { nicCommand } from './nic-command'

export const asksNode = (nic: NicDict): boolean =>
  isCommunicationNic(nic) && nic.nicparams.mode === COMMUNICATION.mode && nic.ip !== undefined

/** Where metad listens for the instance with this address, when QEMU itself brings its requests. */
export const relaySocket = (paths: Pick<Paths, 'metadataSocketDir'>, address: string): string =>
  `${paths.metadataSocketDir}/${address}`

/** A name that no tap device has. Another start may take it first; making it then fails. */
export async function freeTapName(files: Files): Promise<string> {
  const taken = (await files.readdir('/sys/class/net')).flatMap((name) => TAP_NAME.exec(name)?.[1] ?? [])
  return `${COMMUNICATION.tapPrefix}${Math.max(-1, ...taken.map(Number)) + 1}`
}

const TAP_NAME = /^gnt\.com\.(\d{1,6})$/

/** Sets it up; done twice it is as done once. */
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
 * Whether this node sends what is for the address to a communication tap and nowhere else. A connection from there was then made by the
 * guest: whoever only pretends to have the address would never have heard the answer to its first packet.
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

/** Device, destination, gateway, flags, use, and at last the mask, of each route. */
const ROUTES = '/proc/net/route'
