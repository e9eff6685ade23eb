// Bridges, addresses and reachability. A virtual node shares the machine's network with others and must not change it: its
// instances get user-mode networking, and its addresses are loopback ones that need no set-up.
import * as fs from 'node:fs'
import * as os from 'node:os'
import type { Paths } from '../lib/paths'
import { runCommand } from '../lib/run-command'
import { fail } from './context'

const INTERFACE_NAME = /^[A-Za-z0-9_.-]{1,15}$/

export const isVirtualNode = (paths: Paths): boolean => paths.root !== ''

/** Bridges that NICs could not be attached to. */
export function missingBridges(paths: Paths, bridges: readonly string[]): string[] {
  return isVirtualNode(paths) ? [] : bridges.filter((bridge) => !isBridge(bridge))
}

function isBridge(name: string): boolean {
  return INTERFACE_NAME.test(name) && name !== '.' && name !== '..' && fs.existsSync(`/sys/class/net/${name}/bridge`)
}

/** Adds or removes an address; a loopback one is always there. */
export async function setAddress(
  change: 'add' | 'del',
  address: string,
  netmask: number,
  device: string,
): Promise<void> {
  if (isLoopback(address) || hasAddress(address) === (change === 'add')) return
  await ip(['address', change, `${address}/${netmask}`, 'dev', device])
}

export const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1'

/** Whether this machine has the address. Loopback addresses belong to the virtual node that listens on them. */
export function hasAddress(address: string): boolean {
  return Object.values(os.networkInterfaces()).some((list) => list?.some((entry) => entry.address === address))
}

async function ip(args: readonly string[]): Promise<void> {
  const { code, output } = await runCommand(['ip', ...args])
  if (code !== 0) fail(`ip ${args.join(' ')} failed: ${output.trim() || `exit code ${code}`}`)
}
