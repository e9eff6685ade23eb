// Bridges, addresses and reachability. A virtual node shares the machine's network with others and must not change it. Its instances get
// user-mode networking. Its addresses are loopback addresses, which need no set-up.
import { isIPv6 } from 'node:net'
import type { Files } from '../../lib/files'
import type { Paths } from '../../lib/paths'
import type { Run } from '../../lib/programs/run-command'
import { errorText } from '../../lib/system-failure'
import { ARP_S, NETWORK_PROGRAM_S } from '../../model/limits/node'
import { isLoopback } from '../../model/ip'
import { isInterfaceName } from '../../model/names'
import { fail } from '../failure'
import type { NodeContext } from '../context'

const ARPING_INSTALL = 'apt-get install -y --no-install-recommends iputils-arping'
/** Flags of a network device. */
const IFF_UP = 0x1
const IFF_NOARP = 0x80

export const isVirtualNode = (paths: Paths): boolean => paths.root !== ''

/** The address moves to other nodes, so this node does not use it as a source. */
export const NO_SOURCE = ['preferred_lft', '0'] as const

type Host = Pick<NodeContext, 'files' | 'run' | 'networkInterfaces' | 'log' | 'clock'>

/** The bridges to which NICs could not be attached. */
export function missingBridges(
  { paths, files }: Pick<NodeContext, 'paths' | 'files'>,
  bridges: readonly string[],
): string[] {
  return isVirtualNode(paths) ? [] : bridges.filter((bridge) => !isBridge(files, bridge))
}

function isBridge(files: Files, name: string): boolean {
  return isInterfaceName(name) && files.existsSync(`/sys/class/net/${name}/bridge`)
}

/** Checks a name that becomes part of a path, or an argument of a program. */
export function checkInterfaceName(name: string): void {
  if (!isInterfaceName(name)) fail(`Invalid name of a network interface: ${JSON.stringify(name)}`)
}

/**
 * Adds or removes an address. A loopback address always exists. Refuses an address that another machine has, and announces the new place to
 * the neighbours.
 */
export async function setAddress(
  host: Host,
  change: 'add' | 'del',
  address: string,
  netmask: number,
  device: string,
): Promise<void> {
  if (isLoopback(address) || hasAddress(host, address) === (change === 'add')) return
  checkInterfaceName(device)
  const entry = `${address}/${netmask}`
  if (change === 'del') return ip(host.run, ['address', 'del', entry, 'dev', device])
  const add = () => ip(host.run, ['address', 'add', entry, 'dev', device, ...NO_SOURCE])
  if (isIPv6(address))
    return announcing(host, address, device, async () => {
      await add()
      await awaitUnique(host, address, entry, device)
    })
  const neighbours = await findNeighbours(host, address, device)
  await neighbours?.refuseDuplicate()
  await add()
  await neighbours?.announce()
}

/**
 * The kernel tells neighbours of a new address only where it is set so. Otherwise they would send to the former owner
 * until they doubt it.
 */
async function announcing({ files, log }: Host, address: string, device: string, add: () => Promise<void>) {
  const setting = `/proc/sys/net/ipv6/conf/${device}/ndisc_notify`
  const before = (await files.readFile(setting, 'utf8').catch(() => '0')).trim()
  if (before === '1') return add()
  const isSet = await files.writeFile(setting, '1').then(
    () => true,
    (error: unknown) => {
      const text = `neighbours may look for the address elsewhere for a while, since ${setting} cannot be set`
      log.warn({ address, device, error: errorText(error) }, text)
      return false
    },
  )
  try {
    await add()
  } finally {
    if (isSet) await files.writeFile(setting, before)
  }
}

/** The kernel first asks the network for another owner of the address. Until then nothing is reachable at it. */
async function awaitUnique({ run, clock }: Host, address: string, entry: string, device: string): Promise<void> {
  const end_ms = clock.monotonic_ms() + ARP_S * 1000
  for (;;) {
    const { output } = await run(['ip', '-6', '-o', 'address', 'show', 'dev', device, 'to', address], {
      timeout_s: NETWORK_PROGRAM_S,
    })
    if (/\bdadfailed\b/.test(output)) {
      await ip(run, ['address', 'del', entry, 'dev', device])
      fail(`Another machine on the network of ${device} has the address ${address}`)
    }
    if (!/\btentative\b/.test(output) || clock.monotonic_ms() > end_ms) return
    await clock.sleep(100)
  }
}

/** The other machines on the device's network, found by ARP. A device without ARP has no neighbours to ask. */
async function findNeighbours({ files, run, log }: Host, address: string, device: string) {
  const flags = Number(await files.readFile(`/sys/class/net/${device}/flags`, 'utf8').catch(() => '0'))
  if ((flags & IFF_NOARP) !== 0 || (flags & IFF_UP) === 0) return undefined
  const arping = async (...options: string[]) =>
    await run(['arping', '-q', ...options, '-I', device, address], { timeout_s: ARP_S + 5 })
  if ((await run(['arping', '-V'], { timeout_s: NETWORK_PROGRAM_S })).code !== 0) {
    log.warn(
      { address, device },
      `nobody is asked whether the address is in use, and neighbours may look for it elsewhere for a while; install arping with: ${ARPING_INSTALL}`,
    )
    return undefined
  }
  return {
    async refuseDuplicate() {
      const { code, output } = await arping('-D', '-f', '-c', '2', '-w', String(ARP_S))
      if (code === 1) fail(`Another machine on the network of ${device} has the address ${address}`)
      if (code !== 0) log.warn({ address, device, output }, 'arping could not ask whether the address is in use')
    },
    /** Without this, neighbours would send to the former owner until their caches expire. */
    async announce() {
      for (const kind of ['-U', '-A']) {
        const { code, output } = await arping(kind, '-c', '1', '-w', String(ARP_S), '-s', address)
        if (code !== 0) log.warn({ address, device, output }, 'the address could not be announced')
      }
    },
  }
}

/** Whether this machine has the address. A loopback address belongs to the virtual node that listens on it. */
export function hasAddress({ networkInterfaces }: Pick<NodeContext, 'networkInterfaces'>, address: string): boolean {
  return Object.values(networkInterfaces()).some((list) => list?.some((entry) => entry.address === address))
}

/** Runs `ip` with these arguments. */
export async function ip(run: Run, args: readonly string[]): Promise<void> {
  const { code, output } = await run(['ip', ...args], { timeout_s: NETWORK_PROGRAM_S })
  if (code !== 0) fail(`ip ${args.join(' ')} failed: ${output.trim() || `exit code ${code}`}`)
}
