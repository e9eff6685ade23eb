// Checks which parameters of KVM fit together. The node checks the files and devices that they name.
import { isIPv4, isIPv6 } from 'node:net'
import type { Params } from './common'
import { readCpuMasks } from './cpu-mask'
import { HypervisorError } from './errors'

/** Parameters without effect unless `spice_bind` is set. */
const SPICE_ONLY: readonly string[] = [
  'spice_ip_version',
  'spice_password_file',
  'spice_image_compression',
  'spice_jpeg_wan_compression',
  'spice_zlib_glz_wan_compression',
  'spice_streaming_video',
  'spice_use_tls',
]

/** `params`: with all defaults. */
export function checkKvmParams(params: Params): void {
  const problem =
    bootProblem(params) ??
    securityProblem(params) ??
    consoleProblem(params) ??
    spiceProblem(params) ??
    diskProblem(params)
  if (problem !== undefined) throw new HypervisorError(problem)
  readCpuMasks(String(params['cpu_mask'] ?? ''))
}

function bootProblem({ boot_order, cdrom_image_path, kernel_path, root_path }: Params): string | undefined {
  if (boot_order === 'cdrom' && !cdrom_image_path) return 'Cannot boot from cdrom without an ISO path'
  if (kernel_path && !root_path) return 'Need a root partition for the instance, if a kernel is defined'
  return undefined
}

function securityProblem({ security_model, security_domain }: Params): string | undefined {
  if (security_model === 'user')
    return security_domain ? undefined : 'A security domain (user to run kvm as) must be specified'
  return security_domain ? "Cannot have a security domain when the security model is 'none' or 'pool'" : undefined
}

function consoleProblem({ serial_console, serial_speed, vnc_x509_verify, vnc_x509_path }: Params): string | undefined {
  if (serial_console && !serial_speed) return 'A serial console needs a speed: set serial_speed'
  return vnc_x509_verify && !vnc_x509_path ? 'vnc_x509_path must be defined, if vnc_x509_verify is' : undefined
}

function spiceProblem(params: Params): string | undefined {
  const { spice_bind: bind, spice_ip_version: version } = params
  if (!bind) {
    const orphan = SPICE_ONLY.find((name) => params[name])
    return orphan === undefined ? undefined : `SPICE: ${orphan} requires spice_bind to be set`
  }
  const family = isIPv4(String(bind)) ? 4 : isIPv6(String(bind)) ? 6 : version
  return !version || family === version
    ? undefined
    : `SPICE: Got an IPv${family} address (${bind}), but the specified IP version is ${version}`
}

function diskProblem({ disk_aio, disk_cache }: Params): string | undefined {
  if (disk_aio !== 'native' || disk_cache === 'none') return undefined
  return "When 'disk_aio' is set to 'native', the only supported value for 'disk_cache' is 'none'."
}
