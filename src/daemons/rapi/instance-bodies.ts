// Bodies of instance requests with more than an opcode's parameters.
import { type JsonObject, isObject } from '../../lib/shapes/shape'
import { OpInstanceReinstall, OpInstanceShutdown, OpInstanceStartup } from '../../opcodes/instance'
import type { ParsedOpCode } from '../../opcodes/index'
import { badRequest } from '../../http/errors'
import { bodyObject, fillFromBody, parametersIn, wrongType } from './fill'
import { pythonInt } from '../../lib/text/python-text'

export interface ReinstallParams {
  /** Another OS to install. Null keeps the present one. */
  os?: string | null
  /** Whether to start the instance afterwards. */
  start?: boolean
  osparams?: { [name: string]: unknown } | null
}

export function createBody(body: unknown): JsonObject {
  const { __version__: version = 0, ...params } = bodyObject(body ?? null)
  if (version === 0) throw badRequest('Instance creation request version 0 is no longer supported')
  if (version !== 1) throw badRequest(`Unsupported request data version ${String(version)}`)
  return withUsbDevices(params)
}

/** USB devices may be separated by blanks; the hypervisor wants commas. */
export function withUsbDevices(body: unknown): JsonObject {
  const params = bodyObject(body ?? null)
  const hvparams = params['hvparams']
  if (!isObject(hvparams)) return params
  const devices = hvparams['usb_devices']
  if (typeof devices !== 'string') return params
  return { ...params, hvparams: { ...hvparams, usb_devices: devices.replaceAll(' ', ',') } }
}

/** One job that stops, reinstalls and, by default, starts the instance. */
export function reinstallOpcodes(
  name: string,
  body: unknown,
  query: { os?: string; start: boolean } | null,
): ParsedOpCode[] {
  if (isGiven(body) && query !== null) throw badRequest("Can't combine query and body parameters")
  const input: JsonObject = isGiven(body) ? parametersIn(body) : { ...query }
  const { os = null, start = true, osparams = null } = input
  if (typeof start !== 'boolean') throw wrongType("'start' parameter", start, 'bool')
  const instance = { instance_name: name }
  const ops = [
    fillFromBody(OpInstanceShutdown, undefined, instance),
    fillFromBody(OpInstanceReinstall, undefined, { ...instance, os_type: os, osparams }),
  ]
  return start ? [...ops, fillFromBody(OpInstanceStartup, undefined, { ...instance, force: false })] : ops
}

/** Without a body, the parameters come from the address; disks may be a text such as `0,1`. */
export function replaceDisksBody(body: unknown, query: Readonly<Record<string, string | undefined>>): JsonObject {
  const { disks, ...others } = isGiven(body) ? bodyObject(body) : { ...query }
  const params = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined))
  if (disks === undefined || disks === null || disks === '') return params
  return { ...params, disks: Array.isArray(disks) ? disks : String(disks).split(',').map(diskIndexOf) }
}

/** An empty body counts as none. */
const isGiven = (body: unknown): boolean =>
  typeof body === 'object' && body !== null ? Object.keys(body).length > 0 : Boolean(body)

function diskIndexOf(text: string): number {
  const index = pythonInt(text)
  if (index === undefined) throw badRequest(`Invalid disk index passed: '${text}'`)
  return index
}
