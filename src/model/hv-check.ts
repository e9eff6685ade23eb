// Checks that hypervisor parameters make sense. Nodes check whether files exist.
import type { Params, ParamValue } from './common'
import { HV_PARAMS, type HvCheck, type HvParam, type Hypervisor } from './constants/hypervisors'
import { HypervisorError } from './errors'
import { checkKvmParams } from './kvm-check'

/** `filled`: with all defaults. Throws a HypervisorError that names the parameter. */
export function checkHvParams(hypervisor: Hypervisor, filled: Params): void {
  const specs = HV_PARAMS[hypervisor]
  for (const name of Object.keys(filled))
    if (!Object.hasOwn(specs, name)) throw new HypervisorError(`Parameter '${name}' is not supported`)
  for (const [name, spec] of Object.entries(specs)) {
    const value = filled[name]
    if (value === undefined) throw new HypervisorError(`Parameter '${name}' is missing`)
    const problem = problemOf(spec, value)
    if (problem === 'undefined')
      throw new HypervisorError(`Parameter '${name}' is required but is currently not defined`)
    if (problem !== undefined)
      throw new HypervisorError(`Parameter '${name}' fails syntax check: ${problem} (current value: '${value}')`)
  }
  if (hypervisor === 'kvm') checkKvmParams(filled)
}

function problemOf(spec: HvParam, value: ParamValue): string | undefined {
  const zeroAllowed = value === 0 && (spec.allowed?.includes(0) ?? spec.check !== undefined)
  if ((value === null || value === '' || value === 0) && !zeroAllowed) return spec.required ? 'undefined' : undefined
  if (spec.allowed && !spec.allowed.some((one) => one === value))
    return `The value must be one of: ${spec.allowed.join(', ')}`
  return spec.check === undefined ? undefined : failed(spec.check, value)
}

function failed(check: HvCheck, value: ParamValue): string | undefined {
  if (typeof check === 'object') {
    const { min, max = Infinity, text } = check
    return typeof value === 'number' && value >= min && value <= max ? undefined : text
  }
  return CHECKS[check].test(String(value)) ? undefined : TEXTS[check]
}

/** An absolute path with no empty, dot or dot-dot part and no slash at its end. */
const PATH = /^(\/|(\/(?!\.{1,2}(\/|$))[^/\0]+)+)$/
const CPU_LIST = String.raw`\^?\d+(-\d+)?(,\^?\d+(-\d+)?)*`

const CHECKS: Readonly<Record<Extract<HvCheck, string>, RegExp>> = {
  path: PATH,
  file: PATH,
  directory: PATH,
  'file-or-url': new RegExp(`${PATH.source}|^(https?|ftps?|tftp)://\\S+$`),
  'cpu-mask': new RegExp(`^(all|${CPU_LIST})$`),
  'cpu-masks': new RegExp(`^(all|${CPU_LIST})(:(all|${CPU_LIST}))*$`),
  ipv4: /^((25[0-5]|2[0-4]\d|1?\d?\d)(\.(?=\d)|$)){4}$/,
  'boot-letters': /^[acdn]+$/,
}

const TEXTS: Readonly<Record<Extract<HvCheck, string>, string>> = {
  path: 'must be an absolute normalized path',
  file: 'must be an absolute normalized path',
  directory: 'must be an absolute normalized path',
  'file-or-url': 'must be an absolute normalized path or a URL',
  'cpu-mask': 'CPU mask definition is not well-formed',
  'cpu-masks': 'Multiple CPU mask definition is not well-formed',
  ipv4: 'must be an IPv4 address',
  'boot-letters': 'Invalid boot order specified, must be one or more of [acdn]',
}
