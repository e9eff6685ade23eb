// Checks whether this node can honour KVM parameters: the things that they name must exist here, and combinations must
// fit.
import { BlockList, isIP } from 'node:net'
import * as path from 'node:path'
import { createSecureContext } from 'node:tls'
import { accessible, type Files } from '../../../lib/files'
import type { Paths } from '../../../lib/paths'
import type { Machine } from '../../../lib/machine'
import type { HvParams } from '../../../rpc/node/dicts'
import { HypervisorFailure } from '../hypervisor'
import { cdromDriver, splitWords } from './command'
import { checkDiskType } from './devices'
import { checkExtra, checkModels, IMAGES, isImageUrl } from './dry-start'
import { accelerator, findQemu, qemuFacts, type Host } from './host'
import { KvmParams } from './params'
import { passwordFile } from './screen-password'
import { checkCpus, checkPinning } from './pinning'
import { expandPool } from './security'

const FILES: readonly string[] = ['kernel_path', 'initrd_path', 'floppy_image_path']
const PASSWORDS: readonly string[] = ['vnc_password_file', 'spice_password_file']
const DIRECTORIES: readonly string[] = ['mem_path', 'vnc_x509_path']

type ParametersHost = Host &
  Pick<Machine, 'networkInterfaces'> & {
    readonly paths: Pick<Paths, 'spiceCert' | 'spiceCaCert' | 'virtual' | 'local' | 'ssconf'>
  }

export async function validateParameters(host: ParametersHost, hvparams: HvParams): Promise<void> {
  await checkParameters(host, hvparams)
  await checkExtra(host, new KvmParams(hvparams))
  await checkModels(host, new KvmParams(hvparams))
}

/** Refuses a start that is certain to fail here. */
export async function checkStart(host: ParametersHost, hvparams: HvParams, vcpus: number): Promise<void> {
  const params = new KvmParams(hvparams)
  await checkParameters(host, hvparams)
  checkPinning(params.text('cpu_mask'), vcpus)
  await checkUidPool(host, params)
  await checkExtra(host, params)
  await checkModels(host, params, vcpus)
}

/** Without a start of QEMU, for an instance that starts now anyway. */
export async function checkParameters(host: ParametersHost, hvparams: HvParams): Promise<void> {
  const { files } = host
  const params = new KvmParams(hvparams)
  for (const name of FILES) await checkPath(files, params, name, 'file')
  for (const name of PASSWORDS) await checkPath(files, params, name, 'file', (file) => passwordFile(host.paths, file))
  for (const name of DIRECTORIES) await checkPath(files, params, name, 'directory')
  for (const name of IMAGES) if (!isImageUrl(params.text(name))) await checkPath(files, params, name, 'file')
  if (!(await findQemu(files, params.text('kvm_path'))))
    refuse('kvm_path', 'not found or not a file', params.text('kvm_path'))
  await checkScreen(host, params)
  await checkVncFiles(files, params)
  await checkSpiceFiles(host, params)
  await checkSecurity(files, params)
  await checkMachine(host, params)
  checkDiskType(params.text('disk_type'))
  cdromDriver(params)
  await checkCpus(files, params.text('cpu_mask'))
  splitWords(params.text('kvm_extra'))
  await accelerator(files, params)
}

function refuse(name: string, reason: string, value: string): never {
  throw new HypervisorFailure(`Parameter '${name}' fails validation: ${reason} (current value: '${value}')`)
}

async function checkPath(
  files: Files,
  params: KvmParams,
  name: string,
  kind: 'file' | 'directory',
  placeOf = (file: string) => file,
): Promise<void> {
  const value = params.text(name)
  if (value === '') return
  if (!path.isAbsolute(value) || path.normalize(value) !== value)
    refuse(name, 'must be an absolute normalized path', value)
  const found = await files.stat(placeOf(value)).catch(() => undefined)
  const fits = kind === 'file' ? found?.isFile() : found?.isDirectory()
  if (!fits) refuse(name, `not found or not a ${kind}`, value)
}

async function checkScreen(host: ParametersHost, params: KvmParams): Promise<void> {
  const { networkInterfaces } = host
  const vnc = params.text('vnc_bind_address')
  const spice = params.text('spice_bind')
  const known = (bind: string) => isIP(bind) !== 0 || bind in networkInterfaces()
  if (vnc !== '' && spice !== '')
    throw new HypervisorFailure('Both SPICE and VNC are configured, but only one of them can be used at a given time')
  if (vnc !== '' && !known(vnc) && !path.isAbsolute(vnc))
    throw new HypervisorFailure(
      'VNC: The vnc_bind_address parameter must be either a valid IP address, an interface name, or an absolute path',
    )
  if (spice !== '' && !known(spice))
    throw new HypervisorFailure('SPICE: The spice_bind parameter must be either a valid IP address or interface name')
  if (path.isAbsolute(vnc)) await checkPath(host.files, params, 'vnc_bind_address', 'directory')
  for (const name of ['vnc_bind_address', 'spice_bind'])
    if (isIP(params.text(name)) !== 0 && !(await canListenOn(host, params.text(name))))
      refuse(name, 'this node does not have the address', params.text(name))
}

const NONLOCAL: Readonly<Record<number, string>> = {
  4: '/proc/sys/net/ipv4/ip_nonlocal_bind',
  6: '/proc/sys/net/ipv6/ip_nonlocal_bind',
}

async function canListenOn({ files, networkInterfaces }: ParametersHost, address: string): Promise<boolean> {
  const family = isIP(address)
  const own = new BlockList()
  own.addSubnet('127.0.0.0', 8, 'ipv4')
  for (const one of ['0.0.0.0', ...addressesOf(networkInterfaces(), 'IPv4')]) own.addAddress(one, 'ipv4')
  for (const one of ['::', '::1', ...addressesOf(networkInterfaces(), 'IPv6')]) own.addAddress(one, 'ipv6')
  if (own.check(address, family === 6 ? 'ipv6' : 'ipv4')) return true
  // An administrator may allow this for addresses that wander between nodes.
  const allowed = await files.readFile(NONLOCAL[family] ?? '', 'utf8').catch(() => '0')
  return allowed.trim() === '1'
}

const addressesOf = (interfaces: ReturnType<Machine['networkInterfaces']>, family: 'IPv4' | 'IPv6'): string[] =>
  Object.values(interfaces).flatMap((all) => (all ?? []).flatMap((one) => (one.family === family ? one.address : [])))

/** Those that QEMU's screen needs for TLS. */
const VNC_FILES = ['ca-cert.pem', 'server-cert.pem', 'server-key.pem']

async function checkVncFiles(files: Files, params: KvmParams): Promise<void> {
  const directory = params.text('vnc_x509_path')
  if (params.text('vnc_bind_address') === '' || !params.flag('vnc_tls') || directory === '') return
  for (const name of VNC_FILES)
    if ((await files.stat(path.join(directory, name)).catch(() => undefined))?.isFile() !== true)
      refuse('vnc_x509_path', `there is no file ${name} in it`, directory)
}

async function checkUidPool({ files, paths }: ParametersHost, params: KvmParams): Promise<void> {
  if (params.text('security_model') !== 'pool') return
  const pool = await files.readFile(paths.ssconf('uid_pool'), 'utf8').catch(() => '')
  if (expandPool(pool).next().done === true)
    refuse('security_model', "the cluster has no user ids, 'gnt-cluster modify --uid-pool' names some", 'pool')
}

async function checkSpiceFiles({ files, paths }: ParametersHost, params: KvmParams): Promise<void> {
  if (params.text('spice_bind') === '' || !params.flag('spice_use_tls')) return
  for (const file of [paths.spiceCert, paths.spiceCaCert])
    if ((await files.stat(file).catch(() => undefined))?.isFile() !== true)
      throw new HypervisorFailure(
        `SPICE: spice_use_tls needs ${paths.virtual(file)}, which is not on this node: ` +
          "'gnt-cluster renew-crypto --new-spice-certificate' makes it on all nodes",
      )
  const ciphers = params.text('spice_tls_ciphers')
  try {
    if (ciphers !== '') createSecureContext({ ciphers })
  } catch {
    refuse('spice_tls_ciphers', 'OpenSSL knows none of these ciphers', ciphers)
  }
}

async function checkSecurity(files: Files, params: KvmParams): Promise<void> {
  const model = params.text('security_model')
  const user = params.text('security_domain')
  if (model !== 'user' || !(await accessible(files, '/etc/passwd'))) return
  const accounts = (await files.readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':')[0])
  if (!accounts.includes(user)) throw new HypervisorFailure(`Unknown security domain user ${user}`)
}

async function checkMachine(host: Host, params: KvmParams): Promise<void> {
  const qemu = await qemuFacts(host, params.text('kvm_path'))
  const machine = params.text('machine_version')
  if (machine !== '' && !qemu.machines.includes(machine.split(',')[0] ?? ''))
    throw new HypervisorFailure(`Unsupported machine version: ${machine}`)
  if (params.text('disk_aio') === 'io_uring' && qemu.version[0] < 5)
    throw new HypervisorFailure("At least QEMU 5.0 is required to use 'disk_aio=io_uring'")
}
