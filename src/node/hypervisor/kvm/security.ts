// QEMU's user, from `security_model`: root (none), one user, or an own user from the cluster's pool.
import { errorText } from '../../../lib/system-failure'
import { Mutex } from '../../../lib/work/mutex'
import { CHOWN_S } from '../../../model/limits/node'
import { HypervisorFailure } from '../hypervisor'
import type { HypervisorContext } from '../hypervisor'
import type { KvmLayout } from './layout'
import type { KvmParams } from './params'
import { findProcess } from './process'

/** Undefined: QEMU stays the user that started it. */
export async function runAsUser(
  context: HypervisorContext,
  layout: KvmLayout,
  name: string,
  params: KvmParams,
): Promise<string | undefined> {
  const model = params.text('security_model')
  if (model === 'user') return params.text('security_domain')
  if (model !== 'pool') return undefined
  const pool = await context.files.readFile(context.paths.ssconf('uid_pool'), 'utf8').catch(() => '')
  const used = await usedUids(layout, name)
  for (const uid of expandPool(pool)) {
    if (used.has(uid)) continue
    await context.files.writeFile(layout.uidFile(name), String(uid))
    return `${uid}:${uid}`
  }
  throw new HypervisorFailure('The uid-pool is empty, or all its user ids are in use')
}

/**
 * A QEMU that gave up root's rights can open a file or device only while it belongs to QEMU's user: `name` or
 * `uid:gid`.
 */
export async function lent<T>(
  { files, run }: Pick<HypervisorContext, 'files' | 'run'>,
  link: string,
  user: string | undefined,
  open: () => Promise<T>,
): Promise<T> {
  const before = user === undefined ? undefined : await files.stat(link).catch(() => undefined)
  if (user === undefined || before === undefined) return open()
  const { code, output } = await run(['chown', user, link], { timeout_s: CHOWN_S })
  if (code !== 0) throw new HypervisorFailure(`A disk cannot be given to the user ${user}: ${output.trim()}`)
  try {
    return await open()
  } catch (error) {
    if (!/Permission denied/.test(errorText(error))) throw error
    throw new HypervisorFailure(
      `QEMU runs as ${user}, who may not enter a folder on the way to the disk (${errorText(error)}): let that user enter it, or add the disk while the instance is stopped`,
      { cause: error },
    )
  } finally {
    await files.chown(link, before.uid, before.gid)
  }
}

/** The whole machine has these devices once, so they are lent to one user after the other. */
const deviceTurns = new Mutex()
/** Everybody may read and write the file. */
const FOR_ALL = 0o006

/**
 * For a NIC, such a QEMU opens devices of the whole machine. It becomes their owner meanwhile; their group stays, since
 * others may open them through it.
 */
export async function lentDevices<T>(
  host: Pick<HypervisorContext, 'files' | 'run'>,
  devices: readonly string[],
  user: string | undefined,
  open: () => Promise<T>,
): Promise<T> {
  if (user === undefined) return open()
  return deviceTurns.runExclusive(async () => {
    const owners = new Map<string, { uid: number; gid: number }>()
    try {
      for (const device of devices) {
        const { uid, gid, mode } = await host.files.stat(device)
        if ((mode & FOR_ALL) === FOR_ALL) continue
        owners.set(device, { uid, gid })
        const { code, output } = await host.run(['chown', user.split(':')[0] ?? user, device], { timeout_s: CHOWN_S })
        if (code !== 0) throw new HypervisorFailure(`${device} cannot be given to the user ${user}: ${output.trim()}`)
      }
      return await open()
    } finally {
      for (const [device, { uid, gid }] of owners) await host.files.chown(device, uid, gid)
    }
  })
}

/** Lines with ids and with ranges `first-last`. */
export function* expandPool(text: string): Generator<number> {
  for (const line of text.split('\n')) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(line.trim())
    if (!match) continue
    const [, first = '0', last = first] = match
    for (let uid = Number(first); uid <= Number(last); uid++) yield uid
  }
}

async function usedUids(layout: KvmLayout, except: string): Promise<Set<number>> {
  const { files } = layout.host
  const directory = layout.uidDir()
  const names = (await files.readdir(directory).catch(() => [])).filter((name) => name !== except)
  const used = new Set<number>()
  for (const name of names)
    if (await findProcess(layout, name)) used.add(Number(await files.readFile(`${directory}/${name}`, 'utf8')))
  return used
}
